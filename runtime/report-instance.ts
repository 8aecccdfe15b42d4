import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { InstanceReport, ServiceName } from '../schemas/instance-report.ts'
import type { Clock } from './clock.ts'
import { VERSION } from './version.ts'

/** Three of them may fail before the instance counts as gone. */
export const REPORT_INSTANCE_EVERY_MS = 10_000

/** What only a service can say of itself. */
export type Measured = Omit<
  InstanceReport,
  'instanceId' | 'service' | 'version' | 'host' | 'startedAt' | 'reportedAt'
>

/** Gives a task that says what this run of a service is and what it has measured. */
export function reportInstance({
  service,
  save,
  measure,
  clock,
}: {
  service: ServiceName
  save: (report: InstanceReport) => Promise<void>
  measure?: () => Measured | Promise<Measured>
  clock: Clock
}): () => Promise<void> {
  const instance = {
    instanceId: randomUUID(),
    service,
    version: VERSION,
    host: hostname(),
    startedAt: clock.now(),
  }
  return async function reportInstance() {
    await save({ ...instance, reportedAt: clock.now(), ...(await measure?.()) })
  }
}
