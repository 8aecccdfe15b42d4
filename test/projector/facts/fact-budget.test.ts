import { expect, test } from '@jest/globals'
import { judgeEntries, type JudgedEntry } from '../../../projector/facts/judge.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { positionReported, T0 } from '../../samples.ts'
import { definitions } from './judging.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const judging = {
  accountId: 'acc-1',
  deviceId: 'tracker-1',
  definitions: definitions({ offlineAfterMs: 24 * HOUR }),
  hearing: { since: 0, graceMs: 0 },
  decidedAt: T0,
}

let offset = 0

function reported(receivedAt: number, changes: Partial<PositionReported>): JudgedEntry {
  offset += 1
  const times = { timestamp: T0 + receivedAt, receivedAt: T0 + receivedAt }
  const event = positionReported({ ...times, ...changes })
  return { kind: 'position', origin: { partition: 0, offset }, event }
}

/** A report with this many unique alarms. */
function alarming(receivedAt: number, count: number): JudgedEntry {
  const alarm = Array.from({ length: count }, (_, n) => `${offset}-${n}`).join(',')
  return reported(receivedAt, { attributes: { alarm } })
}

/** Judges until nothing is left, as a store does. */
function judged(entries: readonly JudgedEntry[], before?: FactState) {
  const facts: DeviceFact[] = []
  const pieces: number[] = []
  let state = before
  for (let isPartial = true; isPartial;) {
    const one = judgeEntries(state, entries, judging)
    // In its stored form.
    state = JSON.parse(JSON.stringify(one.state)) as FactState
    facts.push(...one.facts)
    pieces.push(JSON.stringify(one.facts).length)
    isPartial = one.isPartial === true
  }
  return { state, facts, pieces }
}

test('five requests of 1000 reports with 128 alarms each produce 1200 facts, and 600 more each hour', () => {
  let state: FactState | undefined
  const counts: number[] = []
  for (const hour of [0, 0, 0, 1, 2]) {
    const entries = Array.from({ length: 1_000 }, () => alarming(hour * HOUR, 128))
    const next = judged(entries, state)
    state = next.state
    counts.push(next.facts.length)
  }
  expect(counts).toEqual([1_200, 0, 0, 600, 600])
})

test('decisions beyond the budget take no sequence, and the next fact has their number', () => {
  const first = judged([alarming(0, 16), ...Array.from({ length: 99 }, () => alarming(0, 16))])
  const { facts } = judged([alarming(6_000, 1), alarming(12_000, 1)], first.state)
  expect(first.facts.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 1_200 }, (_, n) => n + 1),
  )
  // 1600 alarms and an online, of which 1200 are facts.
  expect(facts.map(({ sequence, suppressed }) => [sequence, suppressed])).toEqual([
    [1_201, 401],
    [1_202, undefined],
  ])
})

test('decisions do not depend on how entries are cut into batches, even beyond the budget', () => {
  const entries = Array.from({ length: 120 }, (_, n) => alarming(n * 1_000, 16))
  const whole = judged(entries)
  const cut: DeviceFact[] = []
  let state: FactState | undefined
  for (let from = 0; from < entries.length; from += 7) {
    const next = judged(entries.slice(from, from + 7), state)
    state = next.state
    cut.push(...next.facts)
  }
  expect(cut).toEqual(whole.facts)
  expect(state).toEqual(whole.state)
  const told = whole.facts.reduce((sum, { suppressed = 0 }) => sum + suppressed, 0)
  expect(told + (whole.state?.budget?.suppressed ?? 0)).toBe(120 * 16 + 1 - whole.facts.length)
})

test('one judging call produces at most a megabyte of facts, and the next continues where it stopped', () => {
  const text = 'x'.repeat(8_000)
  const entries = Array.from({ length: 400 }, () => {
    const entry = alarming(0, 1)
    const event = entry.event as PositionReported
    return {
      ...entry,
      event: { ...event, attributes: { ...event.attributes, text } },
    } as JudgedEntry
  })
  const { facts, pieces, state } = judged(entries)
  expect(facts.map(({ sequence }) => sequence)).toEqual(facts.map((_, n) => n + 1))
  expect(facts).toHaveLength(401)
  expect(pieces.length).toBeGreaterThan(2)
  expect(Math.max(...pieces)).toBeLessThan(1.1 * 2 ** 20)
  expect(judgeEntries(state, entries, judging).facts).toEqual([])
})
