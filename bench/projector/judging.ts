import { followDefinitions } from '../../projector/facts/definitions.ts'
import { judgeBatches, type JudgeBatch } from '../../projector/facts/judge-batch.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/record-id.ts'
import type { Generation } from '../../store/generations.ts'
import type { Store } from '../../store/store.ts'
import { eventOf } from '../events.ts'

/** Geofences that devices visit, of each hundred; the others are in the same towns, but nobody passes. */
const VISITED_OF_100 = 6
const RADIUS_METRES = 300
const MADE_AT_ONCE = 500
/** No device stops here. */
const ASIDE_DEGREES = 0.1

/** Begins judging in an empty store, with this many geofences in the account. Nothing that it does is measured. */
export async function judgingInto(
  store: Store,
  { geofences, devices }: { geofences: number; devices: number },
): Promise<(readModels: Generation) => JudgeBatch> {
  await store.beginFacts({})
  for (let made = 0; made < geofences; made += MADE_AT_ONCE) {
    const count = Math.min(MADE_AT_ONCE, geofences - made)
    await store.createGeofences(
      Array.from({ length: count }, (_, n) => geofenceOf(made + n, { geofences, devices })),
    )
  }
  const definitions = followDefinitions(store, clock)
  await definitions.prepare()
  const hearing = {
    look: async () => undefined,
    current: () => ({ since: 0, graceMs: 0 }),
    heardUpTo: () => clock.now(),
  }
  return (readModels) =>
    judgeBatches(readModels, { store, definitions, hearing, clock, metrics: createMetrics() })
}

/** Around the place of a device in its fifth turn, or a little beside. */
function geofenceOf(
  n: number,
  { geofences, devices }: { geofences: number; devices: number },
): Parameters<Store['createGeofences']>[0][number] {
  const device = Math.floor((n * devices) / geofences) % devices
  const { accountId, latitude, longitude } = eventOf(5 * devices + device, { devices })
  const aside = n % 100 < VISITED_OF_100 ? 0 : ASIDE_DEGREES
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
