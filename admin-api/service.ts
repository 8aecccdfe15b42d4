import { systemClock as clock } from '../runtime/clock.ts'
import { repeatUntilAvailable } from '../runtime/process/repeat.ts'
import { unavailable } from '../runtime/errors.ts'
import { serveHttp } from '../runtime/http/http-server.ts'
import type { SealedSecrets } from '../runtime/process/sealed-secrets.ts'
import type { Program } from '../runtime/process/program.ts'
import { REPORT_INSTANCE_EVERY_MS, reportInstance } from '../runtime/process/instance.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import type { Store } from '../store/store.ts'
import { findBuiltConsole } from './console-page/built-console.ts'
import { warnOfMaps } from './console-page/check-maps.ts'
import type { FactLog } from '../event-log/fact-log.ts'
import { createAdminApp, type AdminLog } from './app.ts'
import { hideErasedAhead } from './erasures-ahead.ts'
import type { DataDirectory, Mode } from './system.ts'
import { ingestAddresses, type OwnIngest } from './ingest-addresses.ts'
import { ensureFirstOperator } from './sign-in/first-operator.ts'

/**
 * How long erased devices may stay visible after an older store is restored under a running admin
 * API.
 */
const LOOKS_EVERY_MS = 5_000

/**
 * Starts the admin API on an open log and store; it ends with the lifecycle. `generated`: the first
 * operator's generated secrets, which must be shown once; only in embedded mode without
 * ADMIN_EMAIL.
 */
export async function startAdminApi(
  {
    store,
    eventLog,
    factLog,
    secrets,
    mode,
    ownIngest,
    measureData,
  }: {
    store: Store
    eventLog: AdminLog
    factLog: FactLog
    /** Encrypts subscriptions' secrets; without it, no subscription can be created. */
    secrets?: SealedSecrets | undefined
    mode: Mode
    measureData?: () => Promise<DataDirectory>
    /** The ingest API in the same process; absent if it runs elsewhere. */
    ownIngest?: OwnIngest
  },
  { config, logger, metrics, lifecycle }: Program,
) {
  const { firstOperator: configured, host, adminPort: port, trustProxy } = config
  const { stopping } = lifecycle
  const save = (report: InstanceReport) => store.saveInstance(report)
  lifecycle.every(
    'instance report',
    REPORT_INSTANCE_EVERY_MS,
    reportInstance({ service: 'admin-api', save, clock }),
  )
  const erasures = hideErasedAhead({ eventLog, store, logger, signal: stopping })
  lifecycle.run('hiding erased devices', erasures.done)
  lifecycle.every('looking for a restored store', LOOKS_EVERY_MS, () => erasures.check())
  const mayRead = () => {
    if (erasures.isReading())
      throw unavailable('the service is still reading erasures from the log, please try again')
  }
  lifecycle.run('checking maps', warnOfMaps(config.maps, logger))
  let canSignIn = false
  const ready = async () => {
    mayRead()
    // Without the log everything can still be read; calls that need it respond with 503.
    await store.ready()
    if (!canSignIn) throw new Error('the first operator does not exist yet')
  }
  const server = await serveHttp({
    app: createAdminApp({
      store,
      eventLog,
      factLog,
      secrets,
      networks: config.webhooks.allowNetworks,
      hasMail: config.smtp !== undefined,
      mode,
      measureData,
      clock,
      logger,
      metrics,
      stopping,
      trustProxy,
      ready,
      mayRead,
      console: findBuiltConsole(config),
      ingest: ingestAddresses(config, ownIngest),
      maps: config.maps,
      consolePublicUrl: config.consolePublicUrl,
      callLimit: config.rateLimits.admin,
      authLimit: config.rateLimits.auth,
      metricsElsewhere: config.metricsPort !== undefined,
    }),
    host,
    port,
    variable: 'ADMIN_PORT',
    graceMs: config.shutdownDeadlineMs / 2,
    // Any response may be a file or a stream, which holds memory while it waits behind another.
    atOnce: 1,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
  })
  lifecycle.onClose('admin API', () => server.close())
  // Runs last, when nothing else can fail: generated secrets are shown only once.
  const ensured = () =>
    ensureFirstOperator({
      store,
      clock,
      generate: mode === 'embedded',
      ...(configured !== undefined && { configured }),
    })
  // A database may start after this process; if its disk is full, the process ends.
  const generated = await (mode === 'embedded'
    ? ensured()
    : repeatUntilAvailable(ensured, {
        logger,
        signal: stopping,
        failure: 'could not create the first operator; retrying',
      }))
  canSignIn = true
  // Logged last: a client that waits for this line may then sign in.
  logger.info({ url: server.url }, 'admin API listening')
  return { url: server.url, generated }
}
