import { noteFailures } from '../../projector/facts/judge-apart.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { followDefinitions } from '../../projector/facts/definitions.ts'
import { judgeBatches, type JudgeBatch } from '../../projector/facts/judge-batch.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { WatchSettings } from '../../store/facts.ts'
import type { Generation } from '../../store/generations.ts'
import type { Store } from '../../store/store.ts'
import { eventOf } from '../events.ts'

/** The share of devices that visit a geofence; the other geofences are in the same towns, but no device passes them. */
const VISITING = 0.06
const RADIUS_METRES = 300
const MADE_AT_ONCE = 500
/** No device stops here. */
const ASIDE_DEGREES = 0.1

/** Begins judging in an empty store, with this many geofences in the account. Nothing that it does is measured. */
export async function judgingInto(
  store: Store,
  {
    geofences,
    devices,
    expectedIntervalSeconds,
    onFacts,
  }: {
    geofences: number
    devices: number
    /** The interval of every device; by default none is set. */
    expectedIntervalSeconds?: number
    onFacts: (count: number) => void
  },
): Promise<(readModels: Generation) => JudgeBatch> {
  await store.beginFacts({})
  for (let made = 0; made < geofences; made += MADE_AT_ONCE) {
    const count = Math.min(MADE_AT_ONCE, geofences - made)
    await store.createGeofences(
      Array.from({ length: count }, (_, n) => geofenceOf(made + n, { geofences, devices })),
    )
  }
  const { accountId } = eventOf(0, { devices })
  const settings: WatchSettings[] = []
  if (expectedIntervalSeconds !== undefined) {
    for (let n = 0; n < devices; n += 1) {
      const { deviceId } = eventOf(n, { devices })
      settings.push({ accountId, deviceId, disabled: false, expectedIntervalSeconds })
    }
  }
  // As if they were stored, which would take an fsync each.
  const changes = settings.map((definition, n) => {
    return { id: deviceKey(definition), version: n + 1, changedAt: 0, definition }
  })
  const watchSettings = async () => ({ changes, last: changes.length, isEnd: true })
  const definitions = followDefinitions({ ...store, watchSettings }, clock)
  await definitions.prepare()
  const hearing = {
    look: async () => undefined,
    current: () => ({ since: 0, graceMs: 0 }),
    heardUpTo: () => clock.now(),
  }
  const counting: Pick<Store, 'factsProgress' | 'lastJudged' | 'judgeFacts' | 'eraseFacts'> = {
    factsProgress: () => store.factsProgress(),
    lastJudged: () => store.lastJudged(),
    eraseFacts: (erasure) => store.eraseFacts(erasure),
    async judgeFacts(batch) {
      const judged = await store.judgeFacts(batch)
      onFacts(judged.facts.length)
      return judged
    },
  }
  const metrics = createMetrics()
  const failures = noteFailures({
    clock,
    metrics,
    logger: createLogger({ level: 'error', name: 'bench' }),
  })
  const judging = { store: counting, definitions, hearing, failures, clock, metrics }
  return (readModels) => judgeBatches(readModels, judging)
}

/** Around the place of a device in its fifth turn, or a little beside. */
function geofenceOf(
  n: number,
  { geofences, devices }: { geofences: number; devices: number },
): Parameters<Store['createGeofences']>[0][number] {
  const visited = Math.min(geofences / 2, VISITING * devices)
  const device = Math.floor(n < visited ? n / VISITING : (n * devices) / geofences) % devices
  const { accountId, latitude, longitude } = eventOf(5 * devices + device, { devices })
  const aside = n < visited ? 0 : ASIDE_DEGREES
  const random = Buffer.alloc(10)
  random.writeUIntBE(n, 4, 6)
  return {
    accountId,
    id: ulid(0, random),
    name: `Depot ${n}`,
    shape: { type: 'circle', latitude, longitude: longitude + aside, radius: RADIUS_METRES },
    confirmSeconds: 0,
    enabled: true,
    createdAt: 0,
  }
}
