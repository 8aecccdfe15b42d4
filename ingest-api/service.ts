import type { EventLog } from '../event-log/event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { serveHttp } from '../runtime/http-server.ts'
import type { Program } from '../runtime/program.ts'
import type { Keys } from '../store/store.ts'
import { createIngestApp } from './app.ts'
import { KeyUsage } from './key-usage.ts'

const USAGE_FLUSH_MS = 60_000

/** Starts the ingest API on an open log and store; it ends with the lifecycle. Gives its URL. */
export async function startIngestApi(
  { eventLog, keys }: { eventLog: EventLog; keys: Keys },
  { config, logger, metrics, lifecycle }: Program,
): Promise<string> {
  const usage = new KeyUsage({ keys })
  lifecycle.onClose('key usage', () => usage.flush())
  lifecycle.every('key usage', USAGE_FLUSH_MS, () => usage.flush())
  const { stopping } = lifecycle
  const server = await serveHttp({
    app: createIngestApp({ eventLog, keys, usage, clock, logger, metrics, stopping }),
    host: config.host,
    port: config.ingestPort,
    graceMs: config.shutdownDeadlineMs / 2,
  })
  lifecycle.onClose('ingest API', () => server.close())
  logger.info({ url: server.url }, 'ingest API listens')
  return server.url
}
