import {
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
  verticesOf,
  type Geofence,
} from '../../schemas/geofence.ts'
import type { GeofenceRefused } from '../definitions.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import { changed, untilDone } from './changing.ts'

/** Its id is the account's. */
export type GeofenceTotals = {
  readonly id: string
  readonly geofences: number
  readonly vertices: number
}

export const GEOFENCE_TOTALS: Kind<GeofenceTotals> = { name: 'geofence_totals', indexes: {} }

type Amount = Pick<GeofenceTotals, 'geofences' | 'vertices'>

/** Counts an account's geofences before they are stored, so that calls at the same time stay within the limits. */
export function geofenceTotals(
  totals: DocumentStore<GeofenceTotals>,
  allOf: (accountId: string) => AsyncIterable<readonly Geofence[]>,
) {
  /** A process that ended between counting and storing has left the total too high. */
  async function recount(accountId: string): Promise<GeofenceTotals> {
    return untilDone(async () => {
      const before = await totals.get(accountId)
      let [geofences, vertices] = [0, 0]
      for await (const page of allOf(accountId)) {
        geofences += page.length
        for (const { shape } of page) vertices += verticesOf(shape)
      }
      const counted = { id: accountId, geofences, vertices }
      if (before === undefined) {
        return (await totals.insert([counted])).length === 1 ? counted : undefined
      }
      return (await totals.replace({ ...before, ...counted })) ? counted : undefined
    })
  }

  async function take(accountId: string, amount: Amount): Promise<GeofenceRefused | undefined> {
    await totals.insert([{ id: accountId, geofences: 0, vertices: 0 }])
    let refused: GeofenceRefused | undefined
    await changed(totals, accountId, (before) => {
      const after = { ...before, ...plus(before, amount) }
      refused = excess(after)
      return refused === undefined ? after : undefined
    })
    return refused
  }

  return {
    /** @returns undefined once the amount is counted. */
    async take(accountId: string, amount: Amount): Promise<GeofenceRefused | undefined> {
      if ((await take(accountId, amount)) === undefined) return undefined
      const refused = excess(plus(await recount(accountId), amount))
      return refused ?? take(accountId, amount)
    },

    async giveBack(accountId: string, { geofences, vertices }: Amount): Promise<void> {
      await changed(totals, accountId, (before) => ({
        ...before,
        geofences: Math.max(0, before.geofences - geofences),
        vertices: Math.max(0, before.vertices - vertices),
      }))
    },
  }
}

function plus(a: Amount, b: Amount): Amount {
  return { geofences: a.geofences + b.geofences, vertices: a.vertices + b.vertices }
}

function excess({ geofences, vertices }: Amount): GeofenceRefused | undefined {
  if (geofences > MOST_GEOFENCES) return 'too many geofences'
  return vertices > MOST_VERTICES_OF_ACCOUNT ? 'too many vertices' : undefined
}
