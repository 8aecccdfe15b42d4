import { expect, test } from '@jest/globals'
import { TripFinder, type TripOrStop } from '../../../schemas/geo/trip-finder.ts'
import type { FactInput } from '../../../projector/facts/decider.ts'
import { STOPPED } from '../../../schemas/definitions/device-rule.ts'
import { T0 } from '../../samples.ts'
import { at, definitions, geofence, heartbeat, JudgedDevice, rule } from './judging.ts'

test('a rule above a value is raised by the first greater value, and cleared by the first beyond `clear`', () => {
  const fast = rule({ name: 'Fast', when: { field: 'speed', above: 30, clear: 25 } })
  const device = new JudgedDevice(definitions({ rules: [fast] }))
  const inputs = [30, 31, 26, 25.5, 25, 27, 30.5].map((speed, n) => at(n * 10, { speed }))
  const decisions = device.decide(...inputs)
  const named = { id: fast.id, name: 'Fast', revision: 1 }
  expect(decisions).toEqual([
    {
      type: 'rule.raised',
      rule: named,
      value: 31,
      at: T0 + 10_000,
      position: inputs[1]?.position,
    },
    {
      type: 'rule.cleared',
      rule: named,
      value: 25,
      raisedAt: T0 + 10_000,
      seconds: 30,
      at: T0 + 40_000,
      position: inputs[4]?.position,
    },
    expect.objectContaining({ type: 'rule.raised', at: T0 + 60_000 }),
  ])
})

test('a rule below a value works in the opposite direction, also with attributes', () => {
  const cold = rule({ when: { field: 'temperature', below: -18, clear: -16 } })
  const device = new JudgedDevice(definitions({ rules: [cold] }))
  const readings = [-18, -18.5, -17, -16.5, -19].map((temperature, n) =>
    at(n * 10, { attributes: { temperature } }),
  )
  expect(device.judge(...readings)).toEqual([`raised ${cold.id} @10`])
  expect(device.judge(at(100, { attributes: { temperature: -16 } }))).toEqual([
    `cleared ${cold.id} @100`,
  ])
})

test('a boolean or a text is compared with `is`', () => {
  const off = rule({ when: { field: 'ignition', is: false } })
  const walking = rule({ when: { field: 'activity', is: 'walking' } })
  const device = new JudgedDevice(definitions({ rules: [off, walking] }))
  const said = (n: number, ignition: boolean | string, activity: string) =>
    at(n, { attributes: { ignition, activity } })
  expect(device.judge(said(0, true, 'walking'), said(10, false, 'still'))).toEqual([
    `raised ${walking.id} @0`,
    `raised ${off.id} @10`,
    `cleared ${walking.id} @10`,
  ])
  expect(device.judge(said(20, 'false', 'still'))).toEqual([`cleared ${off.id} @20`])
})

test('a text is compared with each name in `alarm` and with the whole value, ignoring case', () => {
  const sos = rule({ when: { field: 'alarm', is: 'sos' } })
  const said = (n: number, alarm: string | number | boolean) => at(n, { attributes: { alarm } })
  const ofRules = (device: JudgedDevice, ...inputs: FactInput[]) =>
    device.judge(...inputs).filter((line) => !line.startsWith('reported'))
  for (const alarm of ['SOS', 'sos,lowBattery', 'powerCut, Sos', 'sos ']) {
    const device = new JudgedDevice(definitions({ rules: [sos] }))
    expect(ofRules(device, said(0, 'sos'), said(10, alarm))).toEqual([`raised ${sos.id} @0`])
    expect(ofRules(device, said(20, 'lowBattery'))).toEqual([`cleared ${sos.id} @20`])
    expect(ofRules(device, said(30, alarm))).toEqual([`raised ${sos.id} @30`])
    expect(ofRules(device, at(40), said(50, 'none'))).toEqual([`cleared ${sos.id} @50`])
    expect(ofRules(device, said(60, 'sosTest'), said(70, true), said(80, 0))).toEqual([])
  }
  const [none, both, seven] = ['none', 'Sos,lowBattery', '7'].map((is) =>
    rule({ when: { field: 'alarm', is } }),
  )
  const device = new JudgedDevice(definitions({ rules: [none!, both!, seven!] }))
  expect(ofRules(device, said(0, 'None'))).toEqual([`raised ${none!.id} @0`])
  const list = [`cleared ${none!.id} @10`, `raised ${both!.id} @10`]
  expect(ofRules(device, said(10, 'sos,LowBattery'))).toEqual(list)
  expect(ofRules(device, said(20, 7))).toEqual([
    `cleared ${both!.id} @20`,
    `raised ${seven!.id} @20`,
  ])
})

test('texts of other attributes are compared exactly', () => {
  const started = rule({ when: { field: 'event', is: 'start' } })
  const device = new JudgedDevice(definitions({ rules: [started] }))
  const said = (n: number, event: string) => at(n, { attributes: { event } })
  expect(device.judge(said(0, 'Start'), said(10, 'start,stop'))).toEqual([])
})

test('an input without the field, or with text for a number, changes nothing', () => {
  const fast = rule({ when: { field: 'speed', above: 30 } })
  const hot = rule({ when: { field: 'temperature', above: 30 } })
  const device = new JudgedDevice(definitions({ rules: [fast, hot] }))
  device.judge(at(0, { speed: 31, attributes: { temperature: 31 } }))
  const texts = { temperature: 'cold', speed: 0, constructor: 1 }
  expect(device.judge(at(10), at(20, { attributes: texts }), heartbeat(30))).toEqual([])
})

test('heartbeats and repeats of the last position are judged for values; late positions and older repeats are not', () => {
  const low = rule({ when: { field: 'battery', below: 0.2 } })
  const device = new JudgedDevice(definitions({ rules: [low] }))
  expect(device.judge(at(0, { battery: 0.5 }), heartbeat(10, { battery: 0.1 }))).toEqual([
    `raised ${low.id} @10`,
  ])
  const repeat = { ...at(0, { battery: 0.9, received: 20 }), isRepeat: true }
  expect(device.judge({ ...repeat, isLate: true })).toEqual([])
  expect(device.judge({ ...at(-50, { battery: 0.9, received: 30 }), isLate: true })).toEqual([])
  expect(device.judge({ ...repeat, receivedAt: T0 + 40_000 })).toEqual([`cleared ${low.id} @40`])
})

test('`forSeconds` delays raising only, up to the timestamp or the receipt that passes it', () => {
  const fast = rule({ when: { field: 'speed', above: 30 }, forSeconds: 60 })
  const device = new JudgedDevice(definitions({ rules: [fast] }))
  const first = at(0, { speed: 31 })
  const [raised] = device.decide(first, at(59, { speed: 35 }), at(60, { speed: 40 }))
  expect(raised).toMatchObject({
    at: T0 + 60_000,
    value: 31,
    position: first.position,
  })
  expect(
    device.judge(at(61, { speed: 20 }), at(70, { speed: 31 }), at(129, { speed: 20 })),
  ).toEqual([`cleared ${fast.id} @61`])
  device.judge(at(200, { speed: 31, received: 230 }))
  expect(device.due).toBe(T0 + 290_000)
  expect(device.passTime(290)).toEqual([`raised ${fast.id} @260`])
})

test('longer than two hours at the customer: counted from the entry, cleared by the exit', () => {
  const customer = geofence({ confirmSeconds: 120 })
  const long = rule({ when: { inside: customer.id }, forSeconds: 7_200 })
  const device = new JudgedDevice(definitions({ geofences: [customer], rules: [long] }))
  expect(device.judge(at(0, { north: 500 }), at(60), at(600))).toEqual([
    `entered ${customer.id} @60`,
  ])
  expect(device.passTime(60 + 7_199)).toEqual([])
  expect(device.passTime(60 + 7_200)).toEqual([`raised ${long.id} @7260`])
  expect(device.judge(at(9_000, { north: 500 }), at(9_200, { north: 500 }))).toEqual([
    `left ${customer.id} @9000`,
    `cleared ${long.id} @9000`,
  ])
})

test('a return confirmed by the position that ends the wait of "not back by" prevents the alarm', () => {
  const depot = geofence({ confirmSeconds: 60 })
  const away = rule({ when: { outside: depot.id }, forSeconds: 3_600 })
  const device = new JudgedDevice(definitions({ geofences: [depot], rules: [away] }))
  device.judge(at(0), at(60), at(100, { north: 500 }), at(160, { north: 500 }))
  expect(device.judge(at(3_000), at(5_000))).toEqual([`entered ${depot.id} @3000`])
})

test('a rule limited to geofences applies only inside one of them', () => {
  const [school, depot] = [
    geofence(),
    geofence({ shape: { type: 'circle', latitude: 46, longitude: 13, radius: 60 } }),
  ]
  const fast = rule({ when: { field: 'speed', above: 8 }, geofenceIds: [school.id, depot.id] })
  const device = new JudgedDevice(definitions({ geofences: [school, depot], rules: [fast] }))
  expect(device.judge(at(0, { north: 500, speed: 20 }), at(10, { speed: 20 }))).toEqual([
    `entered ${school.id} @10`,
    `raised ${fast.id} @10`,
  ])
  expect(device.judge(at(20, { north: 500 }))).toEqual([
    `left ${school.id} @20`,
    `cleared ${fast.id} @20`,
  ])
})

test('a rule about a geofence that is disabled, or applies to other devices, does not hold', () => {
  const [disabled, others] = [geofence({ enabled: false }), geofence({ labels: ['night'] })]
  const rules = [disabled, others].flatMap(({ id }) => [
    rule({ when: { inside: id } }),
    rule({ when: { outside: id } }),
  ])
  const device = new JudgedDevice(definitions({ geofences: [disabled, others], rules }))
  expect(device.judge(at(0), at(10, { north: 500 }))).toEqual([])
})

test('a rule applies to the devices it names and devices with any of its labels', () => {
  const when = { field: 'speed', above: 30 } as const
  const named = rule({ when, deviceIds: ['tracker-1'] })
  const rules = [named, rule({ when, deviceIds: ['tracker-2'] }), rule({ when, labels: ['night'] })]
  const device = new JudgedDevice(definitions({ rules, labels: ['day'] }))
  expect(device.judge(at(0, { speed: 31 }))).toEqual([`raised ${named.id} @0`])
})

test.each([
  ['changed', { revision: 2 }],
  ['disabled', { enabled: false }],
  ['about other devices', { deviceIds: ['tracker-2'] }],
])('a rule that is %s drops its state without a fact', (_what, change) => {
  const fast = rule({ when: { field: 'speed', above: 30 } })
  const device = new JudgedDevice(definitions({ rules: [fast] }))
  device.judge(at(0, { speed: 31 }))
  device.definitions = definitions({ rules: [{ ...fast, ...change }] })
  expect(device.judge(at(10, { speed: 20 }))).toEqual([])
  expect(device.state?.rules.standings).toEqual({})
})

test('a new rule whose condition already holds is raised by the next judged input', () => {
  const depot = geofence()
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0))
  const inside = rule({ when: { inside: depot.id } })
  device.definitions = definitions({ geofences: [depot], rules: [inside] })
  expect(device.judge(heartbeat(10))).toEqual([`raised ${inside.id} @10`])
})

test("a rule finds the same stops as the device's trips, until the device has left", () => {
  const stopped = rule({ when: { stopped: true }, forSeconds: 600 })
  const device = new JudgedDevice(definitions({ rules: [stopped] }))
  const drive = Array.from({ length: 20 }, (_, n) => at(n * 30, { north: n * 400 }))
  const stand = Array.from({ length: 30 }, (_, n) =>
    at(600 + n * 60, { north: 8_000 + 20 * Math.sin(n) }),
  )
  const go = Array.from({ length: 10 }, (_, n) =>
    at(2_400 + n * 30, { north: 8_000 + (n + 1) * 60 }),
  )
  const inputs = [...drive, ...stand, ...go]
  const stops: TripOrStop[] = []
  const finder = new TripFinder(STOPPED, (item) => stops.push(item))
  for (const { position } of inputs) {
    const { recordId, timestamp, latitude, longitude } = position
    const origin = { partition: 0, offset: 0 }
    finder.add({
      recordId,
      timestamp,
      latitude,
      longitude,
      speed: null,
      accuracy: null,
      origin,
    })
  }
  finder.end()
  const from = stops.find(({ kind }) => kind === 'stop')?.from ?? NaN
  expect(from).toBe(T0 + 600_000)
  expect(device.judge(...inputs)).toEqual([
    `raised ${stopped.id} @1200`,
    `cleared ${stopped.id} @2430`,
  ])
})

test('a receiver without a fix for one position does not end a stop', () => {
  const stopped = rule({ when: { stopped: true } })
  const device = new JudgedDevice(definitions({ rules: [stopped] }))
  const stand = Array.from({ length: 12 }, (_, n) =>
    at(n * 60, n === 8 ? { latitude: 0, longitude: 0 } : {}),
  )
  expect(device.judge(...stand)).toEqual([`raised ${stopped.id} @0`])
})

test('a sleeping tracker has stopped inside a geofence that it is found to have entered later', () => {
  const yard = geofence({ confirmSeconds: 900 })
  const inYard = rule({ when: { stopped: true }, geofenceIds: [yard.id] })
  const device = new JudgedDevice(definitions({ geofences: [yard], rules: [inYard] }))
  device.judge(at(-60, { north: 900 }), at(0), at(60))
  expect(device.passTime(9_000)).toEqual([`entered ${yard.id} @0`, `raised ${inYard.id} @0`])
})

test('a resting, silent device that gets a rule’s label again: both waits restart, once', () => {
  const any = rule({ when: { stopped: true } })
  const stopped = rule({ when: { stopped: true }, labels: ['truck'] })
  const silent = rule({ when: { silent: true }, forSeconds: 120, labels: ['truck'] })
  const rules = [any, stopped, silent]
  const device = new JudgedDevice(definitions({ rules, labels: ['truck'] }))
  device.judge(...Array.from({ length: 7 }, (_, n) => at(n * 60)))
  expect(device.passTime(480)).toEqual([`raised ${silent.id} @480`])
  device.definitions = definitions({ rules })
  device.judge(heartbeat(500))
  device.passTime(1_000)
  device.definitions = definitions({ rules, labels: ['truck'], selectedSince: T0 + 1_000_000 })
  expect(device.judge(at(1_010))).toEqual([`raised ${stopped.id} @1010`])
  expect(device.passTime(1_130)).toEqual([`raised ${silent.id} @1130`])
})

test('a device that loses a rule’s label while silent and gets it again is silent from then on', () => {
  const silent = rule({ when: { silent: true }, forSeconds: 120, labels: ['truck'] })
  const device = new JudgedDevice(definitions({ rules: [silent], labels: ['truck'] }))
  device.judge(at(0))
  expect(device.passTime(120)).toEqual([`raised ${silent.id} @120`])
  device.definitions = definitions({ rules: [silent] })
  device.lookAgain(200)
  expect(device.passTime(300)).toEqual([])
  device.definitions = definitions({
    rules: [silent],
    labels: ['truck'],
    selectedSince: T0 + 400_000,
  })
  device.lookAgain(400)
  expect(device.passTime(519)).toEqual([])
  expect(device.passTime(520)).toEqual([`raised ${silent.id} @520`])
})

test('the state of a device that reports ten times a second, or rests for days, stays small', () => {
  const device = new JudgedDevice(definitions({ rules: [rule({ when: { stopped: true } })] }))
  const often = Array.from({ length: 2_900 }, (_, n) => at(n / 10, { north: (n % 7) * 3 }))
  device.judge(...often)
  expect(device.state?.rules.stop?.window.length).toBeLessThanOrEqual(62)
  device.judge(...Array.from({ length: 200 }, (_, n) => at(300 + n * 600)))
  expect(JSON.stringify(device.state).length).toBeLessThan(2_000)
})

test('reports received before a rule was in force neither raise nor clear it, nor start or end a wait', () => {
  const fast = rule({ when: { field: 'speed', above: 30 }, changedAt: T0 + 100_000 })
  const long = rule({ ...fast, id: 'rule-long', forSeconds: 60 })
  const device = new JudgedDevice(definitions({ rules: [fast, long] }))
  const earlier = [at(0, { speed: 40 }), at(99.999, { speed: 40 })]
  expect(device.judge(...earlier)).toEqual([])
  expect(device.state?.rules.standings).toEqual({})
  expect(device.judge(at(100, { speed: 40 }))).toEqual([`raised ${fast.id} @100`])
  // From a spool: received earlier, judged later.
  const drained = [at(90, { speed: 20 }), heartbeat(95)]
  expect(device.judge(...drained)).toEqual([])
  expect(device.judge(at(171, { speed: 40 }))).toEqual(['raised rule-long @160'])
})

test('entries judged again after a crash decide nothing by a rule whose label the device got later', () => {
  const fast = rule({ when: { field: 'speed', above: 30 }, labels: ['truck'] })
  const since = { labels: ['truck'], selectedSince: T0 + 100_000 }
  const device = new JudgedDevice(definitions({ rules: [fast], ...since }))
  expect(device.judge(at(50, { speed: 40 }), at(60, { speed: 0 }))).toEqual([])
  expect(device.judge(at(110, { speed: 40 }))).toEqual([`raised ${fast.id} @110`])
})

test('silence is not judged while reports cannot be received; afterwards the original deadline counts', () => {
  const silent = rule({ when: { silent: true }, forSeconds: 120 })
  const device = new JudgedDevice(definitions({ rules: [silent] }))
  device.judge(at(0))
  device.hearing = { since: Infinity, graceMs: 600_000 }
  expect(device.passTime(1_000)).toEqual([])
  device.hearing = { since: T0 + 2_000_000, graceMs: 600_000 }
  expect(device.passTime(2_119)).toEqual([])
  expect(device.passTime(2_120)).toEqual([`raised ${silent.id} @120`])
})

test('a disabled device, and one of a suspended account, never becomes silent', () => {
  const silent = rule({ when: { silent: true }, forSeconds: 120 })
  const device = new JudgedDevice(definitions({ rules: [silent], isWatched: false }))
  device.judge(at(0))
  expect(device.passTime(10_000)).toEqual([])
})

test('a device’s silence restarts when it is enabled or its account is reinstated', () => {
  const silent = rule({ when: { silent: true }, forSeconds: 120 })
  const device = new JudgedDevice(definitions({ rules: [silent], isWatched: false }))
  device.judge(at(0))
  expect(device.passTime(1_000)).toEqual([])
  device.definitions = { ...definitions({ rules: [silent] }), watchedSince: T0 + 1_000_000 }
  device.lookAgain(1_004)
  expect(device.passTime(1_119)).toEqual([])
  expect(device.passTime(1_120)).toEqual([`raised ${silent.id} @1120`])
})
