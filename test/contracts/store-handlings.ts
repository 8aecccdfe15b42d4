import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import type { HandledFact } from '../../store/handlings.ts'
import { T0 } from '../samples.ts'
import { deviceErased, newAccountId } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

export function handlingsContract({ promise, shared }: StoreSuite): void {
  const fact = (accountId: string, changes: Partial<HandledFact> = {}): HandledFact => ({
    id: randomUUID(),
    accountId,
    deviceId: 'van',
    decidedAt: T0,
    ...changes,
  })
  const taken = (operator: string, at = T0) =>
    ({ state: 'taken', operatorId: operator, operator, at }) as const

  async function take(of: HandledFact, operator = 'ana', at = T0) {
    return shared.store.changeHandling(of, undefined, () => taken(operator, at))
  }

  promise(
    'handling is found by the ids of facts, in its own account only, even after a restart',
    async ({ accountId }) => {
      const [one, other, theirs] = [fact(accountId), fact(accountId), fact(newAccountId())]
      expect(await take(one)).toEqual({ ...one, ...taken('ana') })
      const note = 'Called back'
      await shared.store.changeHandling(theirs, undefined, () => ({ ...taken('ben'), note }))
      await shared.reopen()
      const factIds = [one, other, theirs].map(({ id }) => id)
      const found = await shared.store.findHandlings({ accountId, factIds })
      expect([...found]).toEqual([[one.id, { ...one, ...taken('ana') }]])
      const others = await shared.store.findHandlings({ accountId: theirs.accountId, factIds })
      expect(others.get(theirs.id)).toEqual({ ...theirs, ...taken('ben'), note })
    },
  )

  promise('of operators who take a fact concurrently, one succeeds', async ({ accountId }) => {
    const of = fact(accountId)
    const operators = ['ana', 'ben', 'eva', 'leo']
    const outcomes = await Promise.all(
      operators.map((operator) =>
        shared.store.changeHandling(of, undefined, (before) =>
          before === undefined ? taken(operator) : undefined,
        ),
      ),
    )
    const owners = new Set(outcomes.map((outcome) => outcome?.operator))
    expect(owners.size).toBe(1)
    expect(operators).toContain([...owners][0])
  })

  promise('changes are read since a time, oldest first', async ({ accountId }) => {
    const [first, second, third] = [fact(accountId), fact(accountId), fact(accountId)]
    await take(third, 'ana', T0 + 3)
    await take(first, 'ana', T0 + 1)
    await take(second, 'ana', T0 + 2)
    await take(fact(newAccountId()), 'ana', T0 + 2)
    await take(first, 'ben', T0 + 4)
    const changed = await shared.store.changedHandlings({ accountId, since: T0 + 2 })
    expect(changed.map(({ id, operator }) => [id, operator])).toEqual([
      [second.id, 'ana'],
      [third.id, 'ana'],
      [first.id, 'ben'],
    ])
  })

  promise('erasing a device removes its handling', async ({ accountId }) => {
    const device = { accountId, deviceId: 'van' }
    const before = fact(accountId)
    const after = fact(accountId, { decidedAt: T0 + 2 })
    const other = fact(accountId, { deviceId: 'bus' })
    for (const one of [before, after, other]) await take(one)
    await shared.store.forgetHandlings({ ...device, upTo: T0 + 1 })
    const factIds = [before, after, other].map(({ id }) => id)
    const found = await shared.store.findHandlings({ accountId, factIds })
    expect(new Set(found.keys())).toEqual(new Set([after.id, other.id]))
  })

  promise(
    'an erasure removes the handling, and none of the earlier life is stored later',
    async ({ accountId }) => {
      const [before, late] = [fact(accountId), fact(accountId)]
      await take(before)
      await shared.store.hideErased(deviceErased({ accountId, deviceId: 'van' }))
      await shared.store.finishErasures({ accountId, deviceId: 'van' })
      // The fact was read before the erasure.
      expect(await take(late)).toBeUndefined()
      const factIds = [before.id, late.id]
      expect((await shared.store.findHandlings({ accountId, factIds })).size).toBe(0)
    },
  )

  promise('handling exists as long as its fact', async ({ accountId }) => {
    const [old, young] = [fact(accountId, { decidedAt: 7 }), fact(accountId, { decidedAt: 8 })]
    for (const one of [old, young]) await take(one)
    await shared.store.expireHandlings(8)
    const factIds = [old.id, young.id]
    const found = await shared.store.findHandlings({ accountId, factIds })
    expect([...found.keys()]).toEqual([young.id])
  })
}
