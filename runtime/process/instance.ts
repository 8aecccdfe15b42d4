import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { InstanceReport, ServiceName } from '../../schemas/instance-report.ts'
import type { Clock } from '../clock.ts'

/** The package's version; package.json is one folder higher for compiled code. */
export const VERSION: string = (() => {
  const file = ['../../package.json', '../../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url))
  if (file === undefined) return 'unknown'
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
})()

/** An instance counts as ended after three missed reports. */
export const REPORT_INSTANCE_EVERY_MS = 10_000

/** Figures measured by a service itself. */
export type InstanceFigures = Omit<
  InstanceReport,
  'instanceId' | 'service' | 'version' | 'host' | 'startedAt' | 'reportedAt'
>

/** Returns a task that saves a report of this instance, with the service's figures. */
export function reportInstance({
  service,
  save,
  measure,
  clock,
}: {
  service: ServiceName
  save: (report: InstanceReport) => Promise<void>
  measure?: () => InstanceFigures | Promise<InstanceFigures>
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
