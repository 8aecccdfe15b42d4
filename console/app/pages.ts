import type { IconNode } from 'lucide'
import {
  Activity,
  Building2,
  FileClock,
  KeyRound,
  Map as MapIcon,
  OctagonX,
  Plug,
  Share2,
  Users,
} from 'lucide'
import type { ComponentType } from 'preact'

/**
 * One page of the console. Its module is loaded when the page is first opened; its component gets
 * the path's parameters (`:deviceId`) as properties.
 */
export type ConsolePage = {
  readonly path: string
  readonly load: () => Promise<ComponentType<never>>
  /** Its link in the navigation. `short` is shown where space is limited. */
  readonly link?: { readonly name: string; readonly short?: string; readonly icon: IconNode }
  /** Whether the page is only of use to platform operators. */
  readonly forPlatform?: true
}

/** In the order of the navigation. */
export const PAGES: readonly ConsolePage[] = [
  {
    path: '/',
    load: () => import('../pages/map/map-page.tsx').then((module) => module.MapPage),
    link: { name: 'Map', icon: MapIcon },
  },
  {
    path: '/keys',
    load: () => import('../pages/keys/keys-page.tsx').then((module) => module.KeysPage),
    link: { name: 'Keys', icon: KeyRound },
  },
  {
    path: '/connect',
    load: () => import('../pages/connect/connect-page.tsx').then((module) => module.ConnectPage),
    link: { name: 'Connect a device', short: 'Connect', icon: Plug },
  },
  {
    path: '/rejections',
    load: () =>
      import('../pages/rejections/rejections-page.tsx').then((module) => module.RejectionsPage),
    link: { name: 'Rejections', icon: OctagonX },
  },
  {
    path: '/shares',
    load: () => import('../pages/shares/shares-page.tsx').then((module) => module.SharesPage),
    link: { name: 'Share', icon: Share2 },
  },
  {
    path: '/audit',
    load: () => import('../pages/audit/audit-page.tsx').then((module) => module.AuditPage),
    link: { name: 'Audit', icon: FileClock },
  },
  {
    path: '/operators',
    load: () =>
      import('../pages/operators/operators-page.tsx').then((module) => module.OperatorsPage),
    link: { name: 'Operators', icon: Users },
  },
  {
    path: '/system',
    load: () => import('../pages/system/system-page.tsx').then((module) => module.SystemPage),
    link: { name: 'System', icon: Activity },
  },
  {
    path: '/accounts',
    load: () => import('../pages/accounts/accounts-page.tsx').then((module) => module.AccountsPage),
    link: { name: 'Accounts', icon: Building2 },
    forPlatform: true,
  },
  {
    path: '/devices/:deviceId',
    load: () => import('../pages/device/device-page.tsx').then((module) => module.DevicePage),
  },
]

/** The page for people without an account. */
export const SHARE_PAGE: ConsolePage = {
  path: '/share',
  load: () => import('../pages/share/share-page.tsx').then((module) => module.SharePage),
}
