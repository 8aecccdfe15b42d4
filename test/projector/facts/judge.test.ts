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

/** A position with these times of fix and receipt after T0. */
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

function repeat(of: JudgedEntry, receivedAt: number): JudgedEntry {
  if (of.kind === 'seen') throw new Error('a heartbeat has no repeats')
  return entry({ kind: 'repeat', event: { ...of.event, receivedAt: T0 + receivedAt } })
}

function entry(of: { kind: string; event: object }): JudgedEntry {
  offset += 1
  return { ...of, origin: { partition: 0, offset } } as JudgedEntry
}

/** Judges entries one by one; a number advances time to that many milliseconds after T0. */
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

test('a device is offline once its limit has passed, at the deadline, and online with its next sign of life', () => {
  const facts = judged([report(0), 59 * MINUTE, 61 * MINUTE, heartbeat(90 * MINUTE)])
  expect(told(facts)).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
    ['device.online', 90],
  ])
  expect(facts[2]).toMatchObject({ previous: 'offline', sequence: 3 })
})

test('a report received before the deadline counts, however late it is judged; at the deadline, the device is offline first', () => {
  expect(told(judged([report(0), report(HOUR - 1)]))).toEqual([['device.online', 0]])
  expect(told(judged([report(0), report(HOUR)]))).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
    ['device.online', 60],
  ])
})

test('the sweep may run late or never: facts and ids are the same', () => {
  const entries = [report(0), heartbeat(10 * MINUTE), report(2 * HOUR), report(5 * HOUR)]
  const [a, b, c, d] = entries as [JudgedEntry, JudgedEntry, JudgedEntry, JudgedEntry]
  const swept = judged([a, b, 30 * MINUTE, 75 * MINUTE, c, 3 * HOUR, 4 * HOUR, d])
  expect(judged(entries)).toEqual(swept)
  expect(swept.map(({ type }) => type)).toEqual([
    'device.online',
    'device.offline',
    'device.online',
    'device.offline',
    'device.online',
  ])
})

test('entries already judged change nothing', () => {
  const entries = [report(0, sos), report(MINUTE)]
  const once = judgeEntries(undefined, entries, usual)
  expect(judgeEntries(once.state, entries, usual)).toEqual({ state: once.state, facts: [] })
})

test('a phone offline at 11:00 that sends at 11:30 what it recorded from 10:05 is online at 11:30', () => {
  const before = report(0)
  const backlog = [5, 20, 85].map((minute) =>
    report(90 * MINUTE, { timestamp: T0 + minute * MINUTE }),
  )
  expect(told(judged([before, 61 * MINUTE, ...backlog]))).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
    ['device.online', 90],
  ])
})

test('late reports, repeats and heartbeats are signs of life', () => {
  const first = report(0)
  const signs = [
    report(50 * MINUTE, { timestamp: T0 - HOUR }),
    repeat(first, 100 * MINUTE),
    heartbeat(150 * MINUTE),
  ]
  expect(told(judged([first, ...signs, 200 * MINUTE]))).toEqual([['device.online', 0]])
})

test('a heartbeat before the first position has no effect', () => {
  expect(judged([heartbeat(0, sos)])).toMatchObject([])
})

test('a report from before the device was found to be offline does not bring it back', () => {
  const [before, drained, after] = [report(0), report(30 * MINUTE), report(70 * MINUTE)]
  expect(told(judged([before, 61 * MINUTE, drained, after]))).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
    ['device.online', 70],
  ])
})

test('a disabled device, or one of a suspended account, never becomes offline', () => {
  const unwatched = {
    ...usual,
    definitions: definitions({ offlineAfterMs: HOUR, isWatched: false }),
  }
  expect(told(judged([report(0), 3 * HOUR, report(5 * HOUR)], unwatched))).toEqual([
    ['device.online', 0],
  ])
})

test('a device’s silence restarts when it is enabled or its account is reinstated, without a fact', () => {
  const enabled = { ...usual, definitions: { ...usual.definitions, watchedSince: T0 + 5 * HOUR } }
  expect(told(judged([report(0), 359 * MINUTE], enabled))).toEqual([['device.online', 0]])
  expect(told(judged([report(0), 360 * MINUTE], enabled))).toEqual([
    ['device.online', 0],
    ['device.offline', 360],
  ])
})

test('a device that was offline when disabled is offline when enabled', () => {
  const offline = judgeEntries(undefined, [report(0)], usual).state
  const { state } = judgeTime(offline, T0 + 2 * HOUR, usual)
  const enabled = { ...usual, definitions: { ...usual.definitions, watchedSince: T0 + 5 * HOUR } }
  const later = judgeTime({ ...state, due: T0 + 5 * HOUR }, T0 + 9 * HOUR, enabled)
  expect(later.facts).toEqual([])
  expect(later.state.liveness).toMatchObject({ offlineAt: T0 + HOUR })
})

test('a rule about silence covers a device that has sent nothing since it was seeded', () => {
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

test('silence is not judged until the service has listened long enough; then the original deadline counts', () => {
  const started = { ...usual, hearing: { since: T0 + 2 * HOUR, graceMs: 10 * MINUTE } }
  expect(told(judged([report(0), 129 * MINUTE], started))).toEqual([['device.online', 0]])
  expect(told(judged([report(0), 125 * MINUTE, 130 * MINUTE], started))).toEqual([
    ['device.online', 0],
    ['device.offline', 60],
  ])
  // It reports in time, so it is unknown whether it was silent.
  expect(told(judged([report(0), report(129 * MINUTE), 3 * HOUR], started))).toEqual([
    ['device.online', 0],
  ])
})

test("the grace period is no longer than the device's limit", () => {
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

test('each alarm name is one fact, with the position that reported it', () => {
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

test('reports of the same alarm within five minutes of the last one are one run and one fact', () => {
  const steps = [0, 4, 8, 14].map((minute) => report(minute * MINUTE, sos))
  expect(told(judged(steps)).filter(([type]) => type === 'alarm.reported')).toEqual([
    ['alarm.reported', 0, 'sos', false],
    ['alarm.reported', 14, 'sos', false],
  ])
})

test('a panic button pressed twice, hours apart, on a device that sends nothing else: two alarms', () => {
  const facts = judged([report(0), heartbeat(2 * HOUR, sos), heartbeat(5 * HOUR, sos)])
  expect(told(facts).filter(([type]) => type === 'alarm.reported')).toEqual([
    ['alarm.reported', 120, 'sos', false],
    ['alarm.reported', 300, 'sos', false],
  ])
})

test('a report with an alarm retried after ten minutes: one alarm', () => {
  const pressed = report(0, sos)
  const facts = judged([pressed, repeat(pressed, 10 * MINUTE)])
  expect(told(facts).filter(([type]) => type === 'alarm.reported')).toHaveLength(1)
})

test('late alarms are marked as late and form separate runs', () => {
  const late = (minute: number) => report(2 * HOUR, { timestamp: T0 + minute * MINUTE, ...sos })
  const facts = judged([report(118 * MINUTE, sos), late(10), late(14), late(60)])
  expect(told(facts).filter(([type]) => type === 'alarm.reported')).toEqual([
    ['alarm.reported', 118, 'sos', false],
    ['alarm.reported', 10, 'sos', true],
    ['alarm.reported', 60, 'sos', true],
  ])
})

test('a run continues past alarms of other kinds, whether on time or late', () => {
  const fall = { attributes: { alarm: 'fall' } }
  const before = (minute: number, alarm: object) =>
    report(90 * MINUTE, { timestamp: T0 + minute * MINUTE, ...alarm })
  const kept = [before(0, sos), heartbeat(90 * MINUTE, fall), before(1, sos)]
  const again = heartbeat(91 * MINUTE, fall)
  const late = [before(-60, sos), before(-30, fall), before(-59, sos)]
  const alarms = judged([...kept, again, ...late]).filter(({ type }) => type === 'alarm.reported')
  expect(told(alarms)).toEqual([
    ['alarm.reported', 0, 'sos', false],
    ['alarm.reported', 90, 'fall', false],
    ['alarm.reported', -60, 'sos', true],
    ['alarm.reported', -30, 'fall', true],
  ])
})

test('alarm names are compared without case, and shown as sent', () => {
  const alarms = ['SOS,sos,Sos', 'sos'].map((alarm, n) => report(n, { attributes: { alarm } }))
  expect(told(judged(alarms)).flatMap((fact) => fact[2] ?? [])).toEqual(['SOS'])
})

test('a report has at most sixteen alarms, of at most 64 characters', () => {
  const names = Array.from({ length: 128 }, (_, n) => `${n + 1}${'x'.repeat(99)}`)
  const facts = judged([report(0, { attributes: { alarm: names.join(',') } })])
  const alarms = told(facts).flatMap((fact) => fact[2] ?? [])
  expect(alarms).toEqual(names.slice(0, 16).map((name) => name.slice(0, 64)))
})

test('a device’s state holds at most sixteen alarms', () => {
  let state: FactState | undefined
  for (let n = 0; n < 40; n += 1) {
    const invented = heartbeat(n * HOUR, { attributes: { alarm: `alarm ${n}` } })
    state = judgeEntries(state, [state === undefined ? report(0, sos) : invented], usual).state
  }
  expect(Object.keys(state?.alarms?.onTime ?? {})).toHaveLength(16)
})

test('a timestamp in the future counts as the time of receipt', () => {
  const ahead = report(0, { timestamp: T0 + 10 * HOUR, ...sos })
  expect(told(judged([ahead, report(MINUTE, { ...sos })]))).toEqual([
    ['alarm.reported', 0, 'sos', false],
    ['device.online', 0],
  ])
})

test('values that trackers send without an alarm count as none (text, number or boolean); any other value is its name', () => {
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

test('a device goes offline at the same limit as its status `offline`', () => {
  expect(offlineAfter(undefined)).toBe(HOUR)
  expect(offlineAfter(10)).toBe(5 * MINUTE)
  expect(offlineAfter(600)).toBe(100 * MINUTE)
})
