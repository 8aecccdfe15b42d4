import type { FactHandling, Handlings } from '../handlings.ts'
import type { DocumentStore, Kind, Revisioned } from '../documents.ts'
import { isSameLife } from '../erasing-devices.ts'
import type { Erasures } from '../read-models.ts'
import { repeatUntilDone } from './changing.ts'

const READ_AT_ONCE = 50
/** If more change within a few seconds, they are read with the list. */
const MOST_CHANGED = 1_000

export const HANDLINGS: Kind<FactHandling> = {
  name: 'handlings',
  indexes: {
    changed: { fields: ['accountId', 'at'] },
    device: { fields: ['accountId', 'deviceId', 'decidedAt'] },
    decided: { fields: ['decidedAt'] },
  },
}

export function handlingsOf(
  handlings: DocumentStore<FactHandling>,
  { livesOf }: Pick<Erasures, 'livesOf'>,
): Handlings {
  return {
    async changeHandling({ id, accountId, deviceId, decidedAt }, life, next) {
      const { after } = await repeatUntilDone(async () => {
        const before = await handlings.get(id)
        const changed = next(before && handlingOf(before))
        if (changed === undefined) return { after: before && handlingOf(before) }
        const after = { id, accountId, deviceId, decidedAt, ...changed }
        const isDone =
          before === undefined
            ? (await handlings.insert([after])).length > 0
            : await handlings.replace({ ...after, revision: before.revision })
        return isDone ? { after } : undefined
      })
      // `forgetHandlings` may have run before this handling was stored.
      const lives = await livesOf({ accountId, deviceIds: [deviceId] })
      if (isSameLife(life, lives.get(deviceId))) return after
      await handlings.remove({ id })
      return undefined
    },

    async findHandlings({ accountId, factIds }) {
      const found = new Map<string, FactHandling>()
      for (let start = 0; start < factIds.length; start += READ_AT_ONCE) {
        const some = factIds.slice(start, start + READ_AT_ONCE)
        for (const one of await Promise.all(some.map((id) => handlings.get(id)))) {
          if (one?.accountId === accountId) found.set(one.id, handlingOf(one))
        }
      }
      return found
    },

    async changedHandlings({ accountId, since }) {
      const query = { index: 'changed', where: { accountId }, from: since, limit: MOST_CHANGED }
      return (await handlings.find(query)).map(handlingOf)
    },

    forgetHandlings: ({ accountId, deviceId, upTo }) =>
      handlings.removeOlder({ index: 'device', where: { accountId, deviceId }, than: upTo + 1 }),

    expireHandlings: (before) => handlings.removeOlder({ index: 'decided', than: before }),
  }
}

function handlingOf({ revision: _revision, ...handling }: Revisioned<FactHandling>): FactHandling {
  return handling
}
