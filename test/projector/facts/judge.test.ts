import { expect, test } from '@jest/globals'
import { judgeEntries, judgeTime, type JudgedEntry } from '../../../projector/facts/judge.ts'
import { offlineAfter } from '../../../projector/facts/silence.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { deviceSeen, positionReported, T0 } from '../../samples.ts'
import { definitions, rule } from './judging.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
const usual = {
  ...device,
  definitions: definitions({ offlineAfterMs: HOUR }),
  hearing: { since: 0, graceMs: 0 },
  decidedAt: T0,
}

let offset = 0

/** A position that was true and received at these times after T0. */
function report(receivedAt: number, changes: Partial<PositionReported> = {}): JudgedEntry {
  const times = { timestamp: T0 + receivedAt, receivedAt: T0 + receivedAt }
  return entry({ kind: 'position', event: positionReported({ ...times, ...changes }) })
}

function heartbeat(
  receivedAt: number,
  changes: Parameters<typeof deviceSeen>[0] = {},
): JudgedEntry {
  return entry({ kind: 'seen', event: deviceSeen({ receivedAt: T0 + receivedAt, ...changes }) })
}

function entry(of: { kind: string; event: object }): JudgedEntry {
  offset += 1
  return { ...of, origin: { partition: 0, offset } } as JudgedEntry
}

/** Judges entries one after the other, and lets time pass where a number of milliseconds after T0 stands. */
function judged(steps: readonly (JudgedEntry | number)[], judging = usual) {
  let state: FactState | undefined
  const facts: DeviceFact[] = []
  for (const step of steps) {
    const result: { state: FactState; facts: readonly DeviceFact[] } =
      typeof step === 'number'
        ? judgeTime(state ?? { sequence: 0, applied: {}, due: null }, T0 + step, judging)
        : judgeEntries(state, [step], judging)
    state = result.state
    facts.push(...result.facts)
  }
  return facts
}

/** Type, minutes after T0, and the name of an alarm. */
function told(facts: readonly DeviceFact[]) {
  return facts.map((fact) => [
    fact.type,
    (fact.at - T0) / MINUTE,
    ...(fact.type === 'alarm.reported' ? [fact.alarm, fact.late] : []),
  ])
}

const sos = { attributes: { alarm: 'sos' } }

test('the first report of a device brings it online, with its position', () => {
  const first = report(0)
  expect(judged([first, report(MINUTE)])).toMatchObject([
    { type: 'device.online', previous: null, sequence: 1, at: T0, inside: [] },
  ])
  expect(judged([first])[0]?.position?.recordId).toBe((first.event as PositionReported).recordId)
})

test('a rule about silence sees a device of which nothing has arrived since it was seeded', () => {
  const silent = rule({ when: { silent: true }, forSeconds: 600 })
  const seeded: FactState = {
    sequence: 0,
    applied: {},
    due: T0,
    liveness: { seenAt: T0 - HOUR, offlineAt: T0 - 1, due: null },
    definitions: { geofences: { standings: {} }, rules: { standings: {} } },
  }
  const judging = { ...usual, definitions: { ...usual.definitions, rules: [silent] } }
  expect(told(judgeTime(seeded, T0, judging).facts)).toEqual([['rule.raised', -50]])
})

test('silence is not judged until the service has listened long enough; then the deadline is the true one', () => {
  const started = { ...usual, hearing: { since: T0 + 2 * HOUR, graceMs: 10 * MINUTE } }
  expect(told(judged([report(0), 129 * MINUTE], started))).toEqual([['device.online', 0]])
  expect(told(judged([report(0), 125 * MINUTE, 130 * MINUTE], started))).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
  ])
  // It reports in time: nobody knows whether it was silent.
  expect(told(judged([report(0), report(129 * MINUTE), 3 * HOUR], started))).toEqual([
    ['device.online', 0],
  ])
})

test('the grace is no longer than the limit of the device', () => {
  const started = {
    ...usual,
    definitions: definitions({ offlineAfterMs: 5 * MINUTE }),
    hearing: { since: T0 + 2 * HOUR, graceMs: 10 * MINUTE },
  }
  expect(told(judged([report(0), 125 * MINUTE], started))).toEqual([
    ['device.online', 0],
    ['device.offline', 5],
  ])
})

test('while reports cannot be received, no device is offline', () => {
  const deaf = { ...usual, hearing: { since: Infinity, graceMs: 0 } }
  expect(told(judged([report(0), 2 * HOUR, report(3 * HOUR)], deaf))).toEqual([
    ['device.online', 0],
  ])
})

test('an alarm is one fact per name, with the position that reported it', () => {
  const facts = judged([report(0, { attributes: { alarm: ' sos, lowBattery,,sos' } })])
  expect(told(facts)).toEqual([
    ['alarm.reported', 0, 'sos', false],
    ['alarm.reported', 0, 'lowBattery', false],
    ['device.online', 0],
  ])
  expect(facts.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  expect(new Set(facts.map(({ id }) => id)).size).toBe(3)
  expect(facts[0]?.position).toMatchObject({ latitude: expect.any(Number) })
})

test('names of alarms are compared without case, and shown as sent', () => {
  const alarms = ['SOS,sos,Sos', 'sos'].map((alarm, n) => report(n, { attributes: { alarm } }))
  expect(told(judged(alarms)).flatMap((fact) => fact[2] ?? [])).toEqual(['SOS'])
})

test('a report has at most sixteen alarms, of at most 64 characters', () => {
  const names = Array.from({ length: 128 }, (_, n) => `${n + 1}${'x'.repeat(99)}`)
  const facts = judged([report(0, { attributes: { alarm: names.join(',') } })])
  const alarms = told(facts).flatMap((fact) => fact[2] ?? [])
  expect(alarms).toEqual(names.slice(0, 16).map((name) => name.slice(0, 64)))
})

test('however many alarms a device invents, its state keeps sixteen', () => {
  let state: FactState | undefined
  for (let n = 0; n < 40; n += 1) {
    const invented = heartbeat(n * HOUR, { attributes: { alarm: `alarm ${n}` } })
    state = judgeEntries(state, [state === undefined ? report(0, sos) : invented], usual).state
  }
  expect(Object.keys(state?.alarms?.onTime ?? {})).toHaveLength(16)
})

test('what trackers send where there is no alarm is none, as text, number or boolean; other values are its name', () => {
  const words = [
    '',
    ' , ',
    '0',
    'False',
    'no',
    'NONE',
    'null',
    'Normal',
    'off',
    'OK',
    '-',
    'no, ok',
  ]
  const none = [false, 0, ...words].map((alarm) => report(0, { attributes: { alarm } }))
  expect(told(judged(none)).map(([type]) => type)).toEqual(['device.online'])
  const names = [true, 7].map((alarm) => report(0, { attributes: { alarm } }))
  expect(told(judged(names)).flatMap((fact) => fact[2] ?? [])).toEqual(['true', '7'])
})

test('the limit is that of the status `offline`', () => {
  expect(offlineAfter(undefined)).toBe(HOUR)
  expect(offlineAfter(10)).toBe(5 * MINUTE)
  expect(offlineAfter(600)).toBe(100 * MINUTE)
})
