import { expect, test } from '@jest/globals'
import {
  movingDevices,
  replayTrack,
  type PlannedReport,
} from '../../../commands/simulate/planned-report.ts'
import { metresBetween } from '../../../schemas/geo/distance.ts'
import {
  parsePositionReport,
  type PositionReport,
} from '../../../schemas/report/position-report.ts'

const T0 = Date.UTC(2026, 0, 1)
const plan = {
  devices: 10,
  rate: 1,
  count: 300,
  prefix: 'van-',
  seed: 7,
  attributes: false,
  startedAt: T0,
}

function read(reports: Iterable<PlannedReport>): PositionReport[] {
  return [...reports].map(({ report }) => {
    const result = parsePositionReport(report, { now: T0 + 600_000 })
    if (!('report' in result)) throw new Error(JSON.stringify(result.faults))
    return result.report
  })
}

test('moving devices report every field that the service accepts, within its rules', () => {
  const devices = movingDevices(plan)
  expect(devices.map(({ deviceId }) => deviceId).slice(0, 2)).toEqual(['van-01', 'van-02'])
  for (const { deviceId, reports } of devices) {
    const positions = read(reports)
    expect(positions).toHaveLength(300)
    for (const position of positions) {
      expect(Object.values(position)).not.toContain(undefined)
      expect(Object.keys(position).sort()).toEqual(
        'accuracy altitude battery deviceId heading latitude longitude speed timestamp'.split(' '),
      )
      expect(position.deviceId).toBe(deviceId)
    }
  }
})

test('moving devices report attributes on request, along the same path', () => {
  const [without] = movingDevices(plan).map(({ reports }) => read(reports))
  const [having] = movingDevices({ ...plan, attributes: true }).map(({ reports }) => read(reports))
  expect(having?.map(({ attributes: _, ...report }) => report)).toEqual(without)
  const known = having?.map(({ attributes }) => attributes) ?? []
  const [first, last] = [known[0]?.['odometer'], known.at(-1)?.['odometer']]
  const metres = having?.reduce((sum, { speed = 0 }) => sum + speed, 0) ?? NaN
  expect(Math.abs(Number(last) - Number(first) - metres)).toBeLessThan(30)
  expect(new Set(known.flatMap((attributes) => Object.keys(attributes ?? {})))).toEqual(
    new Set(['ignition', 'motion', 'odometer', 'satellites']),
  )
})

test('moving devices move smoothly at their reported speed and stay near the city', () => {
  const places = movingDevices(plan).map(({ reports }) => read(reports))
  const centre = { latitude: 46.0569, longitude: 14.5058 }
  for (const way of places) {
    const steps = way.slice(1).map((here, index) => {
      const metres = metresBetween(way[index] ?? here, here)
      return Math.abs(metres - (here.speed ?? NaN))
    })
    expect(Math.max(...steps)).toBeLessThan(0.05)
    expect(Math.max(...way.map(({ speed = NaN }) => speed))).toBeLessThan(30)
    expect(Math.max(...way.map((here) => metresBetween(here, centre)))).toBeLessThan(7_000)
    expect(new Set(way.map(({ latitude }) => latitude)).size).toBeGreaterThan(150)
  }
  expect(new Set(places.map(([first]) => first?.latitude)).size).toBe(10)
})

test('moving devices take the same path for the same seed, and another for another seed', () => {
  const bodies = (seed: number) =>
    movingDevices({ ...plan, seed, count: 20 }).map(({ reports }) => [...reports])
  expect(bodies(7)).toEqual(bodies(7))
  expect(bodies(8)).not.toEqual(bodies(7))
})

test('moving devices report at their rate, with first reports spread over the first interval', () => {
  const devices = movingDevices({ ...plan, devices: 4, rate: 2, count: 3 })
  expect(devices.map(({ reports }) => [...reports].map(({ dueMs }) => dueMs))).toEqual([
    [0, 500, 1000],
    [125, 625, 1125],
    [250, 750, 1250],
    [375, 875, 1375],
  ])
  expect(read(devices[1]?.reports ?? []).map(({ timestamp }) => timestamp)).toEqual([
    T0 + 125,
    T0 + 625,
    T0 + 1125,
  ])
})

const points = [
  { latitude: 45.273518851, longitude: 13.7142099626, altitude: 211.15, time: T0 },
  { latitude: 45.3, longitude: 13.8, time: T0 + 30_000 },
]

test('a replayed track is reported with its exact numbers and times', () => {
  const { count, reports } = replayTrack({ deviceId: 'car', points })
  expect(count).toBe(2)
  expect([...reports]).toEqual([
    {
      dueMs: 0,
      report: {
        deviceId: 'car',
        latitude: 45.273518851,
        longitude: 13.7142099626,
        altitude: 211.15,
        timestamp: '2026-01-01T00:00:00.000Z',
      },
    },
    {
      dueMs: 0,
      report: {
        deviceId: 'car',
        latitude: 45.3,
        longitude: 13.8,
        timestamp: '2026-01-01T00:00:30.000Z',
      },
    },
  ])
})

test('a replayed track has its gaps divided by the speedup', () => {
  const { reports } = replayTrack({ deviceId: 'car', points, speedup: 60 })
  expect([...reports].map(({ dueMs }) => dueMs)).toEqual([0, 500])
})
