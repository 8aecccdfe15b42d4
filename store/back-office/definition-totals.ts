import { LRUCache } from 'lru-cache'
import {
  MOST_DEFINITION_BYTES,
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
} from '../../schemas/definitions/geofence.ts'
import type { TooLarge, GeofenceRefused } from '../definitions.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import { repeatUntilDone } from './changing.ts'

/** The document's id is the account's id. */
export type GeofenceTotals = {
  readonly id: string
  readonly geofences: number
  readonly vertices: number
  /**
   * The totals of geofences, rules and subscriptions; absent if version 0.3.0 wrote the document.
   */
  readonly bytes?: number
}

export const GEOFENCE_TOTALS: Kind<GeofenceTotals> = { name: 'geofence_totals', indexes: {} }

/** The size of definitions. A difference may be negative. */
export type Amount = {
  readonly geofences: number
  readonly vertices: number
  readonly bytes: number
}

export const NOTHING: Amount = { geofences: 0, vertices: 0, bytes: 0 }

const RECOUNTED_AT_ONCE = 1_000
const RECOUNTED_EVERY_MS = 60_000

export type DefinitionTotals = ReturnType<typeof definitionTotals>

/**
 * Counts an account's definitions before they are stored, so that concurrent calls stay within the
 * limits.
 */
export function definitionTotals(
  totals: DocumentStore<GeofenceTotals>,
  amountsOf: (accountId: string) => AsyncIterable<Amount>,
) {
  const recounted = new LRUCache<string, true>({ max: RECOUNTED_AT_ONCE, ttl: RECOUNTED_EVERY_MS })

  /**
   * A process that ended between counting and storing has left the total too high. `taken`: counted
   * by this call, but not yet stored.
   */
  async function recount(accountId: string, taken = NOTHING): Promise<void> {
    await repeatUntilDone(async () => {
      const before = await totals.get(accountId)
      let sum = taken
      for await (const amount of amountsOf(accountId)) sum = addAmounts(sum, amount)
      const counted = { id: accountId, ...sum }
      if (before === undefined) return (await totals.insert([counted])).length === 1 || undefined
      return (await totals.replace({ ...before, ...counted })) || undefined
    })
  }

  async function tryTake(
    accountId: string,
    amounts: readonly Amount[],
  ): Promise<readonly (GeofenceRefused | undefined)[]> {
    return repeatUntilDone(async () => {
      const before = await totals.get(accountId)
      if (before?.bytes === undefined) {
        await recount(accountId)
        return undefined
      }
      let sum: Amount = { ...before, bytes: before.bytes }
      const refused = amounts.map((amount) => {
        const after = addAmounts(sum, amount)
        const excess = findExcess(sum, after)
        if (excess === undefined) sum = after
        return excess
      })
      const { geofences, vertices, bytes } = sum
      const after = { ...before, geofences, vertices, bytes }
      return (await totals.replace(after)) ? refused : undefined
    })
  }

  /**
   * Counts definitions in order until the limits are reached. Returns the reason for each rejected
   * one.
   */
  async function take(
    accountId: string,
    amounts: readonly Amount[],
  ): Promise<readonly (GeofenceRefused | undefined)[]> {
    const refused = await tryTake(accountId, amounts)
    const others = amounts.filter((_, n) => refused[n] !== undefined)
    if (others.length === 0 || recounted.has(accountId)) return refused
    recounted.set(accountId, true)
    const taken = amounts.filter((_, n) => refused[n] === undefined)
    await recount(accountId, taken.reduce(addAmounts, NOTHING))
    const again = [...(await tryTake(accountId, others))]
    return refused.map((one) => (one === undefined ? undefined : again.shift()))
  }

  return {
    take,

    /** Counts a definition that is not a geofence. */
    async takeBytes(accountId: string, bytes: number): Promise<TooLarge | undefined> {
      const [refused] = await take(accountId, [{ ...NOTHING, bytes }])
      return refused === undefined ? undefined : 'too large'
    },

    async giveBack(accountId: string, amount: Amount): Promise<void> {
      if (amount.geofences === 0 && amount.vertices === 0 && amount.bytes === 0) return
      await tryTake(accountId, [minus(NOTHING, amount)])
    },
  }
}

export function addAmounts(a: Amount, b: Amount): Amount {
  return {
    geofences: Math.max(0, a.geofences + b.geofences),
    vertices: Math.max(0, a.vertices + b.vertices),
    bytes: Math.max(0, a.bytes + b.bytes),
  }
}

export function minus(a: Amount, b: Amount): Amount {
  return {
    geofences: a.geofences - b.geofences,
    vertices: a.vertices - b.vertices,
    bytes: a.bytes - b.bytes,
  }
}

/** A definition already above a limit may shrink. */
function findExcess(before: Amount, after: Amount): GeofenceRefused | undefined {
  const isBeyond = (of: keyof Amount, most: number) => after[of] > most && after[of] > before[of]
  if (isBeyond('geofences', MOST_GEOFENCES)) return 'too many geofences'
  if (isBeyond('vertices', MOST_VERTICES_OF_ACCOUNT)) return 'too many vertices'
  return isBeyond('bytes', MOST_DEFINITION_BYTES) ? 'too large' : undefined
}
