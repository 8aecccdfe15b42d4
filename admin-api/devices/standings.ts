import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { Store } from '../../store/store.ts'
import { isoTime, TIME } from '../http/views.ts'

type Standing = { readonly id: string; readonly name: string; readonly since: string | null }

/** The geofences that a device is in, and the rules raised for it. */
export type Standings = {
  readonly inside: readonly Standing[]
  readonly raised: readonly Standing[]
}

export const NO_STANDINGS: Standings = { inside: [], raised: [] }

type DefinitionStore = Pick<Store, 'definitionsStates' | 'findGeofence' | 'findRule'>

/**
 * Reads the standings of each device, without definitions that were deleted, disabled or changed.
 */
export async function standingsOf(
  store: DefinitionStore,
  { accountId, deviceIds }: { readonly accountId: string; readonly deviceIds: readonly string[] },
): Promise<ReadonlyMap<string, Standings>> {
  const states = await store.definitionsStates({ accountId, deviceIds })
  const geofences = new Map<string, string | undefined>()
  const rules = new Map<string, { name: string; revision: number } | undefined>()
  const found = new Map<string, Standings>()
  for (const [deviceId, state] of states) {
    for (const id of Object.keys(state.geofences.standings)) {
      if (geofences.has(id)) continue
      const geofence = await store.findGeofence({ accountId, id })
      geofences.set(id, geofence?.enabled === true ? geofence.name : undefined)
    }
    for (const id of Object.keys(state.rules.standings)) {
      if (rules.has(id)) continue
      const rule = await store.findRule({ accountId, id })
      rules.set(id, rule?.enabled === true ? rule : undefined)
    }
    found.set(deviceId, nameStandings(state, { geofences, rules }))
  }
  return found
}

function nameStandings(
  state: DefinitionsState,
  {
    geofences,
    rules,
  }: {
    readonly geofences: ReadonlyMap<string, string | undefined>
    readonly rules: ReadonlyMap<string, { name: string; revision: number } | undefined>
  },
): Standings {
  return {
    inside: Object.entries(state.geofences.standings).flatMap(([id, { side, since = null }]) => {
      const name = geofences.get(id)
      return name === undefined || side !== 'inside' ? [] : [nameStanding(id, name, since)]
    }),
    raised: Object.entries(state.rules.standings).flatMap(([id, { revision, raisedAt }]) => {
      const rule = rules.get(id)
      if (rule?.revision !== revision || raisedAt === undefined) return []
      return [nameStanding(id, rule.name, raisedAt)]
    }),
  }
}

function nameStanding(id: string, name: string, since: number | null): Standing {
  return { id, name, since: since === null ? null : isoTime(since) }
}

/** Returns only the ids, as in lists of devices. */
export function listStandingIds({ inside, raised }: Standings) {
  return { inside: inside.map(({ id }) => id), raised: raised.map(({ id }) => id) }
}

export const SINCE: JsonSchema = {
  ...TIME,
  type: ['string', 'null'],
  description: 'Null: it was inside when the geofence came into force',
}

const STANDING = objectOf(
  { id: { type: 'string' }, name: { type: 'string' }, since: SINCE },
  { title: 'Standing' },
)

const IDS_IN_LISTS = { anyOf: [STANDING, { type: 'string' }] }

export const STANDINGS = {
  inside: {
    type: 'array',
    items: IDS_IN_LISTS,
    description: 'The geofences that it is in; in lists only their ids',
  },
  raised: {
    type: 'array',
    items: IDS_IN_LISTS,
    description: 'The rules raised for it; in lists only their ids',
  },
}
