import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import type { FactLog } from '../event-log/fact-log.ts'
import { openFeeds } from '../event-log/reading/open-feeds.ts'
import { clientAddress } from '../runtime/http/client-address.ts'
import type { Clock } from '../runtime/clock.ts'
import {
  answerInEnvelope,
  identifyRequest,
  observeRequests,
  reportBrokenOff,
  type HttpState,
} from '../runtime/http/http.ts'
import { basePathOf, type MapConfig } from '../runtime/config/console-variables.ts'
import type { Logger } from '../runtime/process/logger.ts'
import type { OutboundNetworks } from '../runtime/outbound/outbound-url.ts'
import type { SealedSecrets } from '../runtime/process/sealed-secrets.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import { documentRoutes } from '../runtime/openapi/document-routes.ts'
import type { RateLimit } from '../runtime/limits/rate-counters.ts'
import { serviceRoutes } from '../runtime/http/service-routes.ts'
import type { Store } from '../store/store.ts'
import { accountRoutes } from './accounts/accounts.ts'
import { serveConsole, type ConsoleFiles } from './console-page/serve-console.ts'
import type { AdminRoute } from './http/admin-route.ts'
import { auditRoutes } from './audit.ts'
import { consoleRoutes } from './console.ts'
import { factRoutes } from './facts.ts'
import { handleFactRoutes } from './handle-facts.ts'
import { feedRoutes } from './feeds/feeds.ts'
import type { IngestAddresses } from './ingest-addresses.ts'
import { answerCall } from './http/answer-call.ts'
import { deviceRoutes } from './devices/device.ts'
import { deviceListRoutes } from './devices/list-devices.ts'
import { eraseDeviceRoutes } from './devices/erase-device.ts'
import { historyTurns } from './devices/history-turns.ts'
import { labelRoutes } from './devices/labels.ts'
import { geofenceRoutes } from './geofences/geofences.ts'
import { importGeofencesRoute } from './geofences/import-geofences.ts'
import { replaceGeofenceRoute } from './geofences/replace-geofence.ts'
import { keyRoutes } from './keys/keys.ts'
import { adminDocument } from './openapi.ts'
import { operatorRoutes } from './accounts/operators.ts'
import { activityRoute } from './devices/activity.ts'
import { positionRoutes } from './devices/positions.ts'
import { trackRoute } from './devices/track/track.ts'
import { tripsRoute } from './devices/trips/trips.ts'
import { visitsRoute } from './devices/visits/visits.ts'
import { importRoutes } from './imports/imports.ts'
import { AccountGeofences } from './places/account-geofences.ts'
import { PlaceNames } from './places/place-names.ts'
import { placeSearchRoute } from './places/place-search.ts'
import { placesRoute } from './places/places.ts'
import { Streets } from './places/streets.ts'
import { deviceReportsRoute } from './reports/device-reports.ts'
import { rejectionRoutes } from './rejections.ts'
import { ruleRoutes } from './rules/rules.ts'
import { reportTestRoutes } from './test-report.ts'
import { sessionRoutes } from './sign-in/session.ts'
import { shareRoutes } from './shares/shares.ts'
import { sharedRoutes } from './shares/shared.ts'
import type { StreamOptions } from './stream/options.ts'
import { liveStreams } from './stream/live-streams.ts'
import { streamRoutes } from './stream/stream-route.ts'
import { deliveriesRoutes } from './subscriptions/deliveries.ts'
import { subscriptionActionRoutes } from './subscriptions/subscription-actions.ts'
import { subscriptionRoutes } from './subscriptions/subscriptions.ts'
import { systemHistoryRoute } from './system-history.ts'
import { systemRoutes, type DataDirectory, type Mode } from './system.ts'
import { limitLookUps } from './http/known-secrets.ts'
import { lateEntries } from './http/record-action.ts'
import { shareCallers } from './http/share-callers.ts'
import { callerLimits } from './http/caller-limits.ts'
import { passwordTurns } from './sign-in/password.ts'

export const PREFIX = '/api/v1'

export type AdminDependencies = {
  readonly store: Store
  readonly eventLog: AdminLog
  readonly factLog: FactLog
  /** Encrypts subscriptions' secrets; without it, no subscription can be created. */
  readonly secrets?: SealedSecrets | undefined
  /** Networks that webhooks may reach in addition to the public Internet. */
  readonly networks?: OutboundNetworks | undefined
  /** Whether a mail server is configured. */
  readonly hasMail?: boolean
  /** How long a test of a subscription may take. */
  readonly testWithinMs?: number
  readonly clock: Clock
  readonly logger: Logger
  readonly mode: Mode
  /** Absent if the data is not stored in a directory on this machine. */
  readonly measureData?: (() => Promise<DataDirectory>) | undefined
  readonly ingest: IngestAddresses
  /** How often a person or key may look up a pasted key; by default 10 times in 60 s. */
  readonly pastedKeyLimit?: RateLimit | 'off' | undefined
  /** Delay of the response to a failed sign-in beyond its address's limit; by default 3 s. */
  readonly lateAnswersAfterMs?: number | undefined
  /** Maps that the console offers in addition to the built-in one. */
  readonly maps: readonly MapConfig[]
  /** The path under which browsers reach the API; by default the root. */
  readonly consolePublicUrl: string | undefined
  readonly metrics: Metrics
  /** Aborted when the process starts to shut down. */
  readonly stopping: AbortSignal
  /** Overrides of the live stream's defaults. */
  readonly stream?: Partial<StreamOptions>
}

/** The part of the log that the admin API uses: for erasing devices, the stream and the feeds. */
export type AdminLog = Pick<EventLog, 'erase' | 'tail' | 'extent' | 'placeBefore'>

/** All calls under the prefix, with the access each requires. */
export function adminRoutes(deps: AdminDependencies, streams = liveStreams(deps)): AdminRoute[] {
  const turns = passwordTurns()
  const histories = historyTurns()
  const feeds = openFeeds({
    ...deps,
    ...streams,
    options: { ...streams.options, takeTurn: (accountId) => streams.takeTurn(accountId) },
  })
  const places = { geofences: new AccountGeofences(deps), streets: new Streets(deps) }
  const placeNames = new PlaceNames(places)
  const subscribing = {
    ...deps,
    feeds,
    secrets: deps.secrets,
    networks: deps.networks ?? [],
    hasMail: deps.hasMail ?? false,
  }
  return [
    ...sessionRoutes({ ...deps, turns, basePath: basePathOf(deps.consolePublicUrl) }),
    ...operatorRoutes({ ...deps, turns }),
    ...accountRoutes({ ...deps, turns }),
    ...auditRoutes(deps),
    ...keyRoutes(deps),
    ...reportTestRoutes(deps),
    ...deviceListRoutes({ ...deps, geofences: places.geofences }),
    ...deviceRoutes(deps),
    ...eraseDeviceRoutes(deps),
    ...labelRoutes(deps),
    ...positionRoutes(deps),
    trackRoute({ ...deps, turns: histories }),
    tripsRoute({ ...deps, turns: histories, placeNames }),
    visitsRoute({ ...deps, turns: histories }),
    activityRoute(deps),
    deviceReportsRoute({ ...deps, turns: histories }),
    placesRoute({ placeNames }),
    placeSearchRoute(places),
    ...factRoutes(deps),
    ...handleFactRoutes(deps),
    ...geofenceRoutes(deps),
    replaceGeofenceRoute(deps),
    importGeofencesRoute(deps),
    ...ruleRoutes(deps),
    ...rejectionRoutes(deps),
    ...systemRoutes(deps),
    systemHistoryRoute(deps),
    ...consoleRoutes(deps),
    ...subscriptionRoutes(subscribing),
    ...subscriptionActionRoutes(subscribing),
    ...deliveriesRoutes(deps),
    ...feedRoutes({ ...deps, feeds, streams }),
    ...streamRoutes({ ...deps, streams }),
    ...importRoutes(deps),
    ...shareRoutes(deps),
    ...sharedRoutes({ ...deps, streams, placeNames }),
  ]
}

/**
 * The admin API as a Koa app, middleware in the order in which a request passes it.
 * @param callLimit how many calls a key, an operator or, for shares, a client address may make.
 * @param authLimit how many unknown keys and share tokens a client address may send.
 * @param console without it, browsers get the API's responses too.
 * @param ready rejects with a message that names the missing part.
 * @param mayRead throws while calls, except signing in, must not be answered yet.
 * @param trustProxy how many proxies to trust for X-Forwarded-* headers.
 */
export function createAdminApp({
  trustProxy,
  callLimit,
  authLimit,
  ready,
  mayRead = () => undefined,
  metricsElsewhere = false,
  console,
  ...given
}: AdminDependencies & {
  trustProxy: number
  callLimit: RateLimit | 'off'
  authLimit: RateLimit | 'off'
  ready: () => Promise<void>
  mayRead?: () => void
  metricsElsewhere?: boolean
  console?: ConsoleFiles
}): Koa<HttpState> {
  const { clock, logger, metrics, stopping } = given
  const late = lateEntries(given.store, { stopping })
  const store = { ...given.store, appendAudit: late.appendAudit }
  const deps = { ...given, store }
  const streams = liveStreams(deps)
  const router = new Router<HttpState>({ strict: true, sensitive: true })
  serviceRoutes(router, {
    name: 'gps-admin-api',
    metrics,
    metricsElsewhere,
    async ready() {
      await ready()
      const missing = streams.missingVariable()
      if (missing === undefined) return
      throw new Error(`the log has entries that cannot be read while ${missing} is not set`)
    },
    stopping,
  })
  const routes = adminRoutes(deps, streams)
  const { consolePublicUrl } = deps
  const basePath = basePathOf(consolePublicUrl)
  documentRoutes(router, () => adminDocument(routes, { prefix: PREFIX }), { basePath })
  const limits = callerLimits({ calls: callLimit })
  const lookUp = limitLookUps({ limit: authLimit, lacking: 'API key' })
  const identifyShare = shareCallers({ store, clock, limit: authLimit })
  const steps = {
    store,
    clock,
    logger,
    limits,
    lookUp,
    identifyShare,
    mayRead,
    writeLateEntries: () => late.write(),
  }
  for (const route of routes) {
    router.register(PREFIX + route.path, [route.method], [answerCall(route, steps)])
  }

  const app = new Koa<HttpState>({ proxy: trustProxy > 0 })
  // Koa's `ip` has ports and brackets.
  Object.defineProperty(app.request, 'ip', {
    get(this: Koa.Request) {
      return clientAddress(this.req, { trustProxy })
    },
  })
  // Koa's `ip` is the leftmost address, which clients choose themselves. A proxy may not send any.
  const isHttps = consolePublicUrl?.startsWith('https:') === true
  Object.defineProperty(app.request, 'protocol', {
    get(this: Koa.Request) {
      const protocol = this.get('x-forwarded-proto').split(',').slice(-trustProxy)[0]?.trim()
      return isHttps || (trustProxy > 0 && protocol === 'https') ? 'https' : 'http'
    },
  })
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'admin-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  if (console !== undefined) app.use(serveConsole(console))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  return app
}
