import { hash } from 'node:crypto'
import type { UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'

const FIRST_SLOTS = 2 ** 12
/** 64 MiB; beyond that many points only the newest are remembered. */
const MOST_SLOTS = 2 ** 23

/** Counts points that have come before: same device, time, place and alarm. Only a hash of each is kept. */
export class Repeats {
  #current = new HashSet(FIRST_SLOTS)
  #previous: HashSet | undefined

  /** Remembers a report. Whether it is a repeat. */
  add({ deviceId, timestamp, latitude, longitude, attributes }: UnjudgedReport): boolean {
    const identity = [deviceId, timestamp, latitude, longitude, attributes?.['alarm']]
    const digest = hash('sha1', JSON.stringify(identity), 'buffer')
    const [high, low] = [digest.readUInt32LE(0), digest.readUInt32LE(4)]
    if (this.#previous?.has(high, low) === true || !this.#current.add(high, low)) return true
    if (this.#current.isFull) this.#makeRoom()
    return false
  }

  #makeRoom(): void {
    if (this.#current.slots < MOST_SLOTS) this.#current = this.#current.doubled()
    else {
      this.#previous = this.#current
      this.#current = new HashSet(FIRST_SLOTS)
    }
  }
}

/** A set of pairs of 32 bits, 8 bytes a slot. */
class HashSet {
  readonly slots: number
  readonly #pairs: Uint32Array
  #size = 0

  constructor(slots: number) {
    this.slots = slots
    this.#pairs = new Uint32Array(slots * 2)
  }

  get isFull(): boolean {
    return this.#size * 4 > this.slots * 3
  }

  has(high: number, low: number): boolean {
    return this.#pairs[this.#placeOf(high, low) + 1] !== 0
  }

  /** False if it was there. */
  add(high: number, low: number): boolean {
    const place = this.#placeOf(high, low)
    if (this.#pairs[place + 1] !== 0) return false
    this.#pairs[place] = high
    this.#pairs[place + 1] = low || 1
    this.#size += 1
    return true
  }

  doubled(): HashSet {
    const larger = new HashSet(this.slots * 2)
    for (let place = 0; place < this.#pairs.length; place += 2) {
      const low = this.#pairs[place + 1]!
      if (low !== 0) larger.add(this.#pairs[place]!, low)
    }
    return larger
  }

  /** The index of the pair, or of the free slot for it. */
  #placeOf(high: number, low: number): number {
    const sought = low || 1
    for (let slot = high % this.slots; ; slot = (slot + 1) % this.slots) {
      const place = slot * 2
      const found = this.#pairs[place + 1]
      if (found === 0 || (found === sought && this.#pairs[place] === high)) return place
    }
  }
}
