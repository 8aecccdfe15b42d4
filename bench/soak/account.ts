import type { signIn } from '../../test/deployments.ts'

const GEOFENCES = 1_000
const RULES = 100
const DEGREE_METRES = 111_195
/** A device moves into or out of its geofence after this many reports. */
const TURNS_PER_VISIT = 4

type Operator = Awaited<ReturnType<typeof signIn>>

/** 1000 geofences, 100 rules in them, and 20 subscriptions of which five fail. */
export async function defineAll(operator: Operator, receiversUrl: string): Promise<void> {
  const features = Array.from({ length: GEOFENCES }, (_, n) => ({
    type: 'Feature',
    properties: { name: `Depot ${n}`, radius: 300 },
    geometry: { type: 'Point', coordinates: [longitudeOf(n), latitudeOf(n)] },
  }))
  const content = { type: 'FeatureCollection', features }
  type Imported = { results: { id?: string }[] }
  const { results } = await operator.call<Imported>('POST', '/geofences/import', content)
  const ids = results.flatMap(({ id }) => id ?? [])
  if (ids.length < GEOFENCES) throw new Error(`${ids.length} of ${GEOFENCES} geofences were made`)
  const ten = (n: number) => ids.slice(10 * n, 10 * n + 10)
  for (let n = 0; n < RULES; n += 1) {
    const when = [
      { field: 'speed', above: 10 + (n % 5) },
      { stopped: true },
      { field: 'battery', below: 0.2 },
      { inside: ids[n] },
    ][n % 4]
    const forSeconds = n % 3 === 0 ? 0 : 60
    await operator.call('POST', '/rules', {
      name: `Rule ${n}`,
      when,
      forSeconds,
      geofenceIds: ten(n),
    })
  }
  const fifth = (n: number) => Array.from({ length: 100 }, (_, at) => deviceName(n + 5 * at))
  for (const [path, wanted] of [
    ['/all', { start: 'start' }],
    ['/hangs', {}],
    ...Array.from({ length: 4 }, () => ['/fails', {}] as const),
    ...Array.from({ length: 9 }, (_, n) => ['/geofence', { geofenceIds: ten(n) }] as const),
    ...Array.from(
      { length: 5 },
      (_, n) => ['/positions', { source: 'positions', deviceIds: fifth(n) }] as const,
    ),
  ] as const) {
    const target = { kind: 'webhook', url: `${receiversUrl}${path}`, batch: 100 }
    await operator.call('POST', '/subscriptions', {
      name: path,
      source: 'facts',
      target,
      ...wanted,
    })
  }
}

/** Report number `turn` of a device: inside its geofence, or beside it; fast, slow or parked. */
export function steadyReport(device: number, turn: number): object {
  const isAway = Math.floor((turn + device) / TURNS_PER_VISIT) % 2 === 1
  return {
    deviceId: deviceName(device),
    latitude: latitudeOf(device) + (isAway ? 600 / DEGREE_METRES : 0),
    longitude: longitudeOf(device) + (turn % TURNS_PER_VISIT) / 100_000,
    speed: (turn * 7 + device) % 20,
    battery: 0.1 + ((turn + device) % 90) / 100,
    accuracy: 4.5,
  }
}

function deviceName(device: number): string {
  return `soak-${device}`
}

/** The geofences are two kilometres apart. */
function latitudeOf(n: number): number {
  return 48 + (Math.floor((n % GEOFENCES) / 40) * 2_000) / DEGREE_METRES
}

function longitudeOf(n: number): number {
  return 10 + ((n % 40) * 3_000) / DEGREE_METRES
}
