import type { UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'
import type { FoundHistory } from '../core/history.ts'

const MOST_PLACES = 2_000

/** Counts what files contain. */
export class Found {
  points = 0
  readonly #devices = new Map<string, { count: number; from: string; to: string }>()
  readonly #leftOut = new Map<string, { count: number; where: string }>()
  #places: [number, number][] = []
  #every = 1

  add({ deviceId, timestamp = '', latitude, longitude }: UnjudgedReport): void {
    this.points += 1
    const device = this.#devices.get(deviceId)
    if (device === undefined) {
      this.#devices.set(deviceId, { count: 1, from: timestamp, to: timestamp })
    } else {
      device.count += 1
      if (timestamp < device.from) device.from = timestamp
      if (timestamp > device.to) device.to = timestamp
    }
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return
    if (this.points % this.#every === 0) this.#places.push([latitude, longitude])
    if (this.#places.length < MOST_PLACES) return
    this.#places = this.#places.filter((_, n) => n % 2 === 0)
    this.#every *= 2
  }

  leaveOut(reason: string, where: string): void {
    const known = this.#leftOut.get(reason) ?? { count: 0, where }
    this.#leftOut.set(reason, { ...known, count: known.count + 1 })
  }

  summary(): FoundHistory {
    return {
      points: this.points,
      devices: [...this.#devices].map(([deviceId, { count, from, to }]) => {
        return { deviceId, count, from, to }
      }),
      leftOut: [...this.#leftOut].map(([reason, { count, where }]) => ({ reason, count, where })),
      places: this.#places,
    }
  }
}
