import { expect, test } from '@jest/globals'
import { judgeEntries } from '../../../projector/facts/judge.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import { positionReported, T0 } from '../../samples.ts'
import { DECISIONS_ALIKE } from './decisions-alike.ts'
import { definitions } from './judging.ts'

const device = { accountId: 'acc-1', deviceId: 'tracker-1' }

for (const { name, judge } of DECISIONS_ALIKE) {
  test(`each decision has a unique id: ${name}`, () => {
    const { facts } = judge(device, undefined)
    expect(facts.length).toBeGreaterThan(4)
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
  })
}

test('the same decision after an erasure has another id', () => {
  const event = positionReported({ timestamp: T0, receivedAt: T0 })
  const first = (erased?: FactState['erased']) => {
    const before = { sequence: 0, applied: {}, due: null, ...(erased && { erased }) }
    const hearing = { since: 0, graceMs: 0 }
    const judging = { ...device, definitions: definitions(), hearing, decidedAt: T0 }
    const entry = { kind: 'position', origin: { partition: 0, offset: 1 }, event } as const
    return judgeEntries(before, [entry], judging).facts[0]
  }
  const lives = [[], ['one'], ['one', 'two']].map((ids) =>
    first(ids.length === 0 ? undefined : { ids, at: 0, partition: 0 }),
  )
  expect(new Set(lives.map((fact) => fact?.id)).size).toBe(3)
  expect(new Set(lives.map((fact) => fact?.sequence))).toEqual(new Set([1]))
})
