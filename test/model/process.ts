import { join } from 'node:path'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSpool } from '../../event-log/spool/spool.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { acceptReports } from '../../ingest-api/accept/accept.ts'
import { DeviceLimit, KeyLimit } from '../../ingest-api/accept/limits.ts'
import { ReportMetrics } from '../../ingest-api/accept/report-metrics.ts'
import type { Clock } from '../../runtime/clock.ts'
import { memoryRateCounters as openCounters } from '../../runtime/limits/rate-counters.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { lineTo } from './line.ts'
import { logger, metrics } from './project-some.ts'

/** The parts of a process that uses the files in a folder. */
export type Process = {
  readonly directory: string
  readonly log: EventLog
  readonly line: ReturnType<typeof lineTo>
  readonly spool: ReturnType<typeof openSpool>
  readonly accept: ReturnType<typeof acceptReports>
  store: Store
}

/** The ingest API's path from reports through a spool to the log, and the read models. */
export function startProcess({ directory, clock }: { directory: string; clock: Clock }): Process {
  const log = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const line = lineTo(log)
  const spool = openSpool({
    directory: join(directory, 'spool'),
    clock,
    logger,
    directWithinMs: 2,
    maxBytes: 2 ** 20,
    maxAgeSeconds: 3600,
    eventLog: { ...log, append: line.append },
  })
  const accept = acceptReports({
    eventLog: spool,
    keyLimit: new KeyLimit({ limit: 'off', openCounters }),
    deviceLimit: new DeviceLimit({ limit: 'off', openCounters }),
    metrics: new ReportMetrics({
      metrics,
      rejections: { offer: () => ({ written: Promise.resolve(true) }) },
    }),
    clock,
  })
  return { directory, log, line, spool, accept, store: openSqliteStore({ directory, clock }) }
}

export async function closeProcess({ log, spool, store, line }: Process): Promise<void> {
  line.letGo()
  await Promise.allSettled([spool.close(), log.close(), store.close()])
}
