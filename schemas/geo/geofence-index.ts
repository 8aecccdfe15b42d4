import Flatbush from 'flatbush'
import { areasOf, type Area } from './area.ts'
import type { Coordinates } from './distance.ts'
import type { Geofence } from '../geofence.ts'

/** A geofence with its areas: several of a multipolygon. */
export type PreparedGeofence = {
  readonly geofence: Geofence
  readonly areas: readonly Area[]
  /** Of its areas together. */
  readonly squareMetres: number
}

/** The enabled geofences of an account, found by place. */
export class GeofenceIndex {
  /** When the latest of them came into force. */
  readonly newest: number
  readonly #byId: ReadonlyMap<string, PreparedGeofence>
  /** The smallest geofence first. */
  readonly #boxed: readonly PreparedGeofence[]
  readonly #boxes: Flatbush | undefined

  constructor(geofences: Iterable<PreparedGeofence>) {
    const enabled = [...geofences].filter(({ geofence }) => geofence.enabled).sort(bySize)
    this.#byId = new Map(enabled.map((one) => [one.geofence.id, one]))
    this.newest = enabled.reduce((last, { geofence }) => Math.max(last, geofence.inForceSince), 0)
    const boxes = enabled.flatMap((one) =>
      one.areas.flatMap((area) => area.boxes.map((box) => ({ one, box }))),
    )
    this.#boxed = boxes.map(({ one }) => one)
    if (boxes.length === 0) return
    this.#boxes = new Flatbush(boxes.length)
    for (const { box } of boxes) this.#boxes.add(box.west, box.south, box.east, box.north)
    this.#boxes.finish()
  }

  get(id: string): PreparedGeofence | undefined {
    return this.#byId.get(id)
  }

  /** Whether the place is in any of their boxes. */
  hasAround({ latitude, longitude }: Coordinates): boolean {
    const boxes = this.#boxes
    if (boxes === undefined) return false
    const isIn = (at: number) => boxes.search(at, latitude, at, latitude).length > 0
    return isIn(longitude) || (Math.abs(longitude) === 180 && isIn(-longitude))
  }

  /** The geofences whose boxes contain the place, the smallest first; of the same size by their ids. */
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

export function prepared(geofence: Geofence): PreparedGeofence {
  const areas = areasOf(geofence.shape)
  return { geofence, areas, squareMetres: areas.reduce((sum, area) => sum + area.squareMetres, 0) }
}

function bySize(a: PreparedGeofence, b: PreparedGeofence): number {
  return a.squareMetres - b.squareMetres || (a.geofence.id < b.geofence.id ? -1 : 1)
}
