import Flatbush from 'flatbush'
import { areasOf, type Area } from './area.ts'
import type { Coordinates } from './distance.ts'
import type { Geofence } from '../definitions/geofence.ts'

/** A geofence with its areas: several for a multipolygon. */
export type PreparedGeofence = {
  readonly geofence: Geofence
  readonly areas: readonly Area[]
  /** The sum of its areas. */
  readonly squareMetres: number
}

type Parts = {
  readonly newest: number
  readonly byId: ReadonlyMap<string, PreparedGeofence>
  /** The geofence of each box; the smallest geofence first. */
  readonly boxed: readonly PreparedGeofence[]
  readonly boxes: Flatbush | undefined
}

/** The enabled geofences of an account, searchable by coordinates. */
export class GeofenceIndex {
  /** When the latest of them came into force. */
  readonly newest: number
  readonly #byId: Parts['byId']
  readonly #boxed: Parts['boxed']
  readonly #boxes: Parts['boxes']

  constructor(geofences: Iterable<PreparedGeofence> | Parts) {
    const { newest, byId, boxed, boxes } = 'boxed' in geofences ? geofences : buildAtOnce(geofences)
    this.newest = newest
    this.#byId = byId
    this.#boxed = boxed
    this.#boxes = boxes
  }

  /** Thousands of geofences take a while: other work may run in between. */
  static async inTurns(
    geofences: Iterable<PreparedGeofence>,
    turnEnds: () => Promise<void>,
  ): Promise<GeofenceIndex> {
    const steps = stepsOf(geofences)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return new GeofenceIndex(step.value)
      await turnEnds()
    }
  }

  get(id: string): PreparedGeofence | undefined {
    return this.#byId.get(id)
  }

  all(): Iterable<PreparedGeofence> {
    return this.#byId.values()
  }

  /** Whether the point is in any of their boxes. */
  hasAround({ latitude, longitude }: Coordinates): boolean {
    const boxes = this.#boxes
    if (boxes === undefined) return false
    const isIn = (at: number) => boxes.search(at, latitude, at, latitude).length > 0
    return isIn(longitude) || (Math.abs(longitude) === 180 && isIn(-longitude))
  }

  /** The geofences whose boxes contain the point, smallest first; equal sizes by id. */
  *around({ latitude, longitude }: Coordinates): Generator<PreparedGeofence, void> {
    const found = this.#boxes?.search(longitude, latitude, longitude, latitude) ?? []
    if (Math.abs(longitude) === 180) {
      // The 180th meridian is at -180° too.
      found.push(...(this.#boxes?.search(-longitude, latitude, -longitude, latitude) ?? []))
    }
    let before: PreparedGeofence | undefined
    for (const n of found.length < 2 ? found : Uint32Array.from(found).sort()) {
      const one = this.#boxed[n] as PreparedGeofence
      if (one !== before) yield one
      before = one
    }
  }
}

function buildAtOnce(geofences: Iterable<PreparedGeofence>): Parts {
  const steps = stepsOf(geofences)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Builds the index in steps that take a few milliseconds each for thousands of geofences. */
function* stepsOf(geofences: Iterable<PreparedGeofence>): Generator<void, Parts> {
  const enabled = [...geofences].filter(({ geofence }) => geofence.enabled)
  yield
  enabled.sort(compareSize)
  yield
  const byId = new Map<string, PreparedGeofence>()
  const boxed: PreparedGeofence[] = []
  let newest = 0
  for (const one of enabled) {
    byId.set(one.geofence.id, one)
    newest = Math.max(newest, one.geofence.inForceSince)
    for (const area of one.areas) for (let n = area.boxes.length; n > 0; n -= 1) boxed.push(one)
  }
  if (boxed.length === 0) return { newest, byId, boxed, boxes: undefined }
  yield
  const boxes = new Flatbush(boxed.length)
  for (const { areas } of enabled) {
    for (const area of areas) {
      for (const { west, south, east, north } of area.boxes) boxes.add(west, south, east, north)
    }
  }
  yield
  boxes.finish()
  return { newest, byId, boxed, boxes }
}

export function prepareGeofence(geofence: Geofence): PreparedGeofence {
  const areas = areasOf(geofence.shape)
  return { geofence, areas, squareMetres: areas.reduce((sum, area) => sum + area.squareMetres, 0) }
}

function compareSize(a: PreparedGeofence, b: PreparedGeofence): number {
  return a.squareMetres - b.squareMetres || (a.geofence.id < b.geofence.id ? -1 : 1)
}
