import type { IconNode } from 'lucide'
import { FileClock, KeyRound, Map as MapIcon, Plug } from 'lucide'
import type { ComponentType } from 'preact'

/**
 * One page of the console. Its module is loaded when it is first opened; its component gets what the
 * path holds (`:deviceId`) as properties.
 */
export type ConsolePage = {
  readonly path: string
  readonly load: () => Promise<ComponentType<never>>
  /** Its link in the navigation. `short` is shown where there is little room. */
  readonly link?: { readonly name: string; readonly short?: string; readonly icon: IconNode }
  /** Whether only operators of the platform have any use for it. */
  readonly forPlatform?: true
}

/** In the order of the navigation. */
export const PAGES: readonly ConsolePage[] = [
  {
    path: '/',
    load: () => import('./pages/map.tsx').then((module) => module.MapPage),
    link: { name: 'Map', icon: MapIcon },
  },
  {
    path: '/keys',
    load: () => import('./pages/keys/keys-page.tsx').then((module) => module.KeysPage),
    link: { name: 'Keys', icon: KeyRound },
  },
  {
    path: '/connect',
    load: () => import('./pages/connect/connect-page.tsx').then((module) => module.ConnectPage),
    link: { name: 'Connect a device', short: 'Connect', icon: Plug },
  },
  {
    path: '/audit',
    load: () => import('./pages/audit.tsx').then((module) => module.AuditPage),
    link: { name: 'Audit', icon: FileClock },
  },
  {
    path: '/devices/:deviceId',
    load: () => import('./pages/device.tsx').then((module) => module.DevicePage),
  },
]
