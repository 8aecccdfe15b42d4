import { expect, test } from '@jest/globals'
import { handleFact, type HandlingCall } from '../../../schemas/facts/handling.ts'

const ANA = { id: 'ana', name: 'ana@example.org', isAdmin: false }
const BEN = { id: 'ben', name: 'ben@example.org', isAdmin: false }
const CHIEF = { id: 'chief', name: 'chief@example.org', isAdmin: true }

type Before = Parameters<typeof handleFact>[0]

function after(before: Before, call: HandlingCall, by = ANA, note?: string) {
  return handleFact(before, { call, by, at: 7, note })
}

function held(state: 'taken' | 'released' | 'closed', by = ANA, note?: string) {
  const handling = { state, operatorId: by.id, operator: by.name, at: 7 }
  return note === undefined ? handling : { ...handling, note }
}

test('an unassigned alarm can be taken or closed directly', () => {
  for (const before of [undefined, held('released', BEN)]) {
    expect(after(before, 'take')).toEqual(held('taken'))
    expect(after(before, 'close', ANA, 'False alarm')).toEqual(held('closed', ANA, 'False alarm'))
    expect(after(before, 'release')).toBe('unchanged')
  }
})

test('only the operator who took an alarm may give it back or close it', () => {
  expect(after(held('taken'), 'release')).toEqual(held('released'))
  expect(after(held('taken'), 'close')).toEqual(held('closed'))
  for (const call of ['take', 'release', 'close'] as const) {
    expect(after(held('taken'), call, BEN)).toBe('refused')
    expect(after(held('closed'), call, BEN)).toBe('refused')
  }
})

test("an admin can release another operator's alarm, but neither take nor close it", () => {
  expect(after(held('taken'), 'release', CHIEF)).toEqual(held('released', CHIEF))
  expect(after(held('closed'), 'release', CHIEF)).toEqual(held('released', CHIEF))
  expect(after(held('taken'), 'take', CHIEF)).toBe('refused')
  expect(after(held('taken'), 'close', CHIEF)).toBe('refused')
})

test('a repeated call changes nothing, but a new note replaces the previous one', () => {
  expect(after(held('taken'), 'take')).toBe('unchanged')
  const closed = held('closed', ANA, 'False alarm')
  expect(after(closed, 'close', ANA, 'False alarm')).toBe('unchanged')
  expect(after(closed, 'close')).toBe('unchanged')
  expect(after(closed, 'close', ANA, 'Called back')).toEqual(held('closed', ANA, 'Called back'))
})

test('a closed alarm is reopened by releasing it, not by taking it', () => {
  expect(after(held('closed'), 'take')).toBe('refused')
  expect(after(held('closed'), 'release')).toEqual(held('released'))
})
