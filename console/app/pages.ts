import {
  Activity,
  BellRing,
  Building2,
  ChartNoAxesColumn,
  FileClock,
  KeyRound,
  Map as MapIcon,
  OctagonX,
  Plug,
  Send,
  Shapes,
  Share2,
  TriangleAlert,
  Users,
  type IconNode,
} from 'lucide'
import type { ComponentType } from 'preact'
import type { OperatorRight } from '../live/session.ts'

/**
 * A page of the console. Its module is loaded when the page is first opened; its component gets
 * the path's parameters (`:deviceId`) as properties.
 */
export type ConsolePage = {
  readonly path: string
  readonly load: () => Promise<ComponentType<never>>
  readonly link?: PageLink
  /** The right that every call of the page needs. */
  readonly needs?: OperatorRight
}

/** A page's link in the navigation. */
export type PageLink = {
  readonly name: string
  readonly icon: IconNode
  readonly group: (typeof GROUPS)[number]
  /** The label in a phone's bar; pages without one are under "More". */
  readonly inBar?: string
}

export const GROUPS = ['Operate', 'Set up', 'Watch'] as const

/** All pages, in navigation order. */
export const PAGES: readonly ConsolePage[] = [
  {
    path: '/',
    load: () => import('../pages/map/map-page.tsx').then((module) => module.MapPage),
    link: { name: 'Map', icon: MapIcon, group: 'Operate', inBar: 'Map' },
  },
  {
    path: '/events',
    load: () => import('../pages/events/events-page.tsx').then((module) => module.EventsPage),
    link: { name: 'Events', icon: BellRing, group: 'Operate', inBar: 'Events' },
  },
  {
    path: '/reports',
    load: () => import('../pages/reports/reports-page.tsx').then((module) => module.ReportsPage),
    link: { name: 'Reports', icon: ChartNoAxesColumn, group: 'Operate' },
  },
  {
    path: '/geofences',
    load: () =>
      import('../pages/geofences/geofences-page.tsx').then((module) => module.GeofencesPage),
    link: { name: 'Geofences', icon: Shapes, group: 'Operate' },
  },
  {
    path: '/rules',
    load: () => import('../pages/rules/rules-page.tsx').then((module) => module.RulesPage),
    link: { name: 'Rules', icon: TriangleAlert, group: 'Operate' },
  },
  {
    path: '/notifications',
    load: () =>
      import('../pages/notifications/notifications-page.tsx').then(
        (module) => module.NotificationsPage,
      ),
    link: { name: 'Notifications', icon: Send, group: 'Operate' },
  },
  {
    path: '/shares',
    load: () => import('../pages/shares/shares-page.tsx').then((module) => module.SharesPage),
    link: { name: 'Shared links', icon: Share2, group: 'Operate' },
    needs: 'shares.edit',
  },
  {
    path: '/connect',
    load: () => import('../pages/connect/connect-page.tsx').then((module) => module.ConnectPage),
    link: { name: 'Connect a device', icon: Plug, group: 'Set up', inBar: 'Connect' },
  },
  {
    path: '/keys',
    load: () => import('../pages/keys/keys-page.tsx').then((module) => module.KeysPage),
    link: { name: 'Keys', icon: KeyRound, group: 'Set up' },
  },
  {
    path: '/operators',
    load: () =>
      import('../pages/operators/operators-page.tsx').then((module) => module.OperatorsPage),
    link: { name: 'Operators', icon: Users, group: 'Set up' },
    needs: 'operators.edit',
  },
  {
    path: '/accounts',
    load: () => import('../pages/accounts/accounts-page.tsx').then((module) => module.AccountsPage),
    link: { name: 'Accounts', icon: Building2, group: 'Set up' },
    needs: 'accounts.edit',
  },
  {
    path: '/system',
    load: () => import('../pages/system/system-page.tsx').then((module) => module.SystemPage),
    link: { name: 'System', icon: Activity, group: 'Watch' },
  },
  {
    path: '/rejections',
    load: () =>
      import('../pages/rejections/rejections-page.tsx').then((module) => module.RejectionsPage),
    link: { name: 'Rejections', icon: OctagonX, group: 'Watch' },
  },
  {
    path: '/audit',
    load: () => import('../pages/audit/audit-page.tsx').then((module) => module.AuditPage),
    link: { name: 'Audit', icon: FileClock, group: 'Watch' },
    needs: 'audit.read',
  },
  {
    path: '/devices/:deviceId',
    load: () => import('../pages/device/device-page.tsx').then((module) => module.DevicePage),
  },
  {
    path: '/notifications/:id',
    load: () =>
      import('../pages/notifications/notification-page.tsx').then(
        (module) => module.NotificationPage,
      ),
  },
  {
    path: '/visits',
    load: () => import('../pages/visits/visits-page.tsx').then((module) => module.VisitsPage),
  },
  {
    path: '/keys/:keyId',
    load: () => import('../pages/keys/key-page.tsx').then((module) => module.KeyPage),
  },
]

/** The page for people without an account. */
export const SHARE_PAGE: ConsolePage = {
  path: '/share',
  load: () => import('../pages/share/share-page.tsx').then((module) => module.SharePage),
}
