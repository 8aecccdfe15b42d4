import type { Clock } from '../runtime/clock.ts'
import { succeed } from '../runtime/http/http.ts'
import { VERSION } from '../runtime/process/instance.ts'
import {
  INSTANCE_GONE_MS,
  SERVICES,
  type InstanceReport,
  type SpoolDepth,
} from '../schemas/instance-report.ts'
import type { Store } from '../store/store.ts'
import type { AdminContext, AdminRoute, JsonSchema } from './http/admin-route.ts'
import { isoTime, TIME } from './http/views.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'
import { sum } from '../runtime/sum.ts'

/** Everything in one process, or separate services on Kafka and MongoDB. */
export type Mode = 'embedded' | 'distributed'

/** The data directory of an embedded service; `lastBackupAt`: undefined if no backup is known. */
export type DataDirectory = {
  readonly storage: { readonly dataBytes: number; readonly freeBytes: number }
  readonly lastBackupAt: number | undefined
}

/** The state of the whole service, across all its processes. */
export function systemRoutes({
  store,
  clock,
  mode,
  measureData,
}: {
  store: Store
  clock: Clock
  mode: Mode
  measureData?: (() => Promise<DataDirectory>) | undefined
}): AdminRoute[] {
  async function show(ctx: AdminContext): Promise<void> {
    const instances = await store.instances({ reportedSince: clock.now() - INSTANCE_GONE_MS })
    const retentionDays = (await store.retentionDays()) ?? null
    const data = await measureData?.()
    succeed(ctx, { ...systemView({ instances, mode }), retentionDays, ...(data && dataView(data)) })
  }

  return [
    {
      method: 'GET',
      path: '/system',
      summary: 'Returns the state of the service',
      description:
        'Compiled from what each running service records every 10 s; a service silent for 30 s is omitted.',
      needs: 'viewer',
      answer: { data: SYSTEM },
      handle: show,
    },
  ]
}

const SYSTEM: JsonSchema = objectOf(
  {
    mode: { enum: ['embedded', 'distributed'] },
    version: { type: 'string' },
    lag: objectOf(
      {
        events: { type: 'integer' },
        seconds: {
          type: 'number',
          description: 'The age of the oldest log entry not yet projected',
        },
      },
      {
        description:
          'How far the read models are behind the accepted reports; null while no service reports it',
        type: ['object', 'null'],
      },
    ),
    deadLetters: {
      type: ['integer', 'null'],
      description: 'Log entries that could not be read; null while no service reports it',
    },
    factsLagSeconds: {
      type: ['number', 'null'],
      description:
        'The age of the oldest log entry not yet judged for events; null while no service reports it',
    },
    failingDevices: {
      type: ['integer', 'null'],
      description:
        'Devices whose latest reports could not be judged for events; null while no service reports it',
    },
    silenceHeldSeconds: {
      type: ['number', 'null'],
      description:
        'For how long no device could go offline, because reports could not arrive, or not for long enough yet; 0 while silences are judged, null while no service reports it',
    },
    acceptedPerMinute: { type: 'number', description: 'Positions of the last 60 s' },
    refusedPerMinute: { type: 'number', description: 'Reports of the last 60 s' },
    spool: objectOf(
      {
        events: { type: 'integer' },
        bytes: { type: 'integer' },
        oldestSeconds: {
          type: 'number',
          description: 'The age of the oldest; 0 when there is none',
        },
      },
      {
        description:
          'Accepted log entries waiting in the spools of all ingest APIs; null without a spool',
        type: ['object', 'null'],
      },
    ),
    retentionDays: {
      type: ['number', 'null'],
      description: 'Number of days after receipt until records are removed; null: never',
    },
    storage: objectOf(
      {
        dataBytes: { type: 'integer', description: 'The size of DATA_DIR' },
        freeBytes: { type: 'integer', description: 'The free space on its disk' },
      },
      { description: 'The data of a service in one process; absent on Kafka and MongoDB' },
    ),
    lastBackupAt: {
      ...TIME,
      type: ['string', 'null'],
      description:
        'When the newest complete backup by `npm run backup` started; null: none is known. Absent on Kafka and MongoDB',
    },
    instances: {
      type: 'array',
      items: objectOf(
        {
          service: { enum: [...SERVICES] },
          host: { type: 'string' },
          version: { type: 'string' },
          startedAt: TIME,
          reportedAt: TIME,
        },
        { title: 'Instance' },
      ),
    },
  },
  { title: 'System', optional: ['storage', 'lastBackupAt'] },
)

function dataView({ storage, lastBackupAt }: DataDirectory) {
  return { storage, lastBackupAt: lastBackupAt === undefined ? null : isoTime(lastBackupAt) }
}

function systemView({ instances, mode }: { instances: readonly InstanceReport[]; mode: Mode }) {
  const inOrder = [...instances].sort(
    (a, b) =>
      SERVICES.indexOf(a.service) - SERVICES.indexOf(b.service) ||
      compare(a.host, b.host) ||
      a.startedAt - b.startedAt ||
      compare(a.instanceId, b.instanceId),
  )
  const newestFirst = [...instances].sort((a, b) => b.reportedAt - a.reportedAt)
  const projectors = newestFirst.filter(({ service }) => service === 'projector')
  const held = projectors.flatMap(({ silenceHeldSeconds = [] }) => silenceHeldSeconds)
  return {
    mode,
    version: VERSION,
    lag: projectors.find(({ lag }) => lag !== undefined)?.lag ?? null,
    deadLetters: projectors.find((one) => one.deadLetters !== undefined)?.deadLetters ?? null,
    factsLagSeconds:
      projectors.find((one) => one.factsLagSeconds !== undefined)?.factsLagSeconds ?? null,
    failingDevices: projectors.some((one) => one.failingDevices !== undefined)
      ? sum(projectors.map((one) => one.failingDevices ?? 0))
      : null,
    // It is enough that one process judges them.
    silenceHeldSeconds: held.length === 0 ? null : Math.min(...held),
    acceptedPerMinute: sum(instances.map((one) => one.acceptedPerMinute ?? 0)),
    refusedPerMinute: sum(instances.map((one) => one.refusedPerMinute ?? 0)),
    spool: allSpools(instances),
    instances: inOrder.map(({ service, host, version, startedAt, reportedAt }) => ({
      service,
      host,
      version,
      startedAt: isoTime(startedAt),
      reportedAt: isoTime(reportedAt),
    })),
  }
}

function allSpools(instances: readonly InstanceReport[]): SpoolDepth | null {
  const spools = instances.flatMap(({ spool }) => spool ?? [])
  if (spools.length === 0) return null
  return {
    events: sum(spools.map(({ events }) => events)),
    bytes: sum(spools.map(({ bytes }) => bytes)),
    oldestSeconds: Math.max(...spools.map(({ oldestSeconds }) => oldestSeconds)),
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
