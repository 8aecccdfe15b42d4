import { expect, test } from '@jest/globals'
import { listInsideAfterEach } from '../../../projector/facts/geofences.ts'
import type { PolygonRing, GeofenceShape } from '../../../schemas/definitions/geofence.ts'
import { T0 } from '../../samples.ts'
import {
  at,
  definitions,
  DEGREE_METRES,
  geofence,
  heartbeat,
  HOME,
  JudgedDevice,
} from './judging.ts'

function circle(radius: number, north = 0): GeofenceShape {
  const latitude = HOME.latitude + north / DEGREE_METRES
  return { type: 'circle', latitude, longitude: HOME.longitude, radius }
}

test('a device that comes and goes enters and leaves once, with the time between', () => {
  const depot = geofence({ externalId: 'd-1', properties: { colour: 'red' } })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  const inputs = [at(0, { north: 500 }), at(60), at(120, { north: 20 }), at(180, { north: 500 })]
  const [entered, left, ...others] = device.decide(...inputs)
  const named = {
    id: depot.id,
    externalId: 'd-1',
    name: 'Depot',
    revision: 1,
    properties: { colour: 'red' },
  }
  expect(entered).toEqual({
    type: 'geofence.entered',
    geofence: named,
    at: T0 + 60_000,
    position: inputs[1]?.position,
  })
  expect(left).toEqual({
    type: 'geofence.left',
    geofence: named,
    enteredAt: T0 + 60_000,
    seconds: 120,
    at: T0 + 180_000,
    position: inputs[3]?.position,
  })
  expect(others).toEqual([])
})

test("a device's first position ever inside a geofence is an entry", () => {
  const depot = geofence()
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  expect(device.judge(at(0))).toEqual([`entered ${depot.id} @0`])
})

test('jitter of 30 m at the edge of a circle of 60 m, accuracy 65 m: one entry, no exit', () => {
  const depot = geofence({ shape: circle(60) })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  const jitter = Array.from({ length: 200 }, (_, n) =>
    at(n * 10, { north: 60 + 30 * Math.sin(n), accuracy: 65 }),
  )
  expect(device.judge(...jitter)).toHaveLength(1)
  expect(device.inside).toEqual([depot.id])
})

test('a passer-by with accuracy 95 m does not enter a circle of 10 m', () => {
  const device = new JudgedDevice(definitions({ geofences: [geofence({ shape: circle(10) })] }))
  const passing = [-300, -100, 0, 5, 100, 300].map((north, n) =>
    at(n * 10, { north, accuracy: 95 }),
  )
  expect(device.judge(...passing)).toEqual([])
})

test('a jump of 3 km with accuracy 17 km is neither an exit nor an entry', () => {
  const [here, there] = [geofence(), geofence({ shape: circle(60, 3_000) })]
  const device = new JudgedDevice(definitions({ geofences: [here, there] }))
  device.judge(at(0))
  expect(device.judge(at(10, { north: 3_000, accuracy: 17_000 }), at(20))).toEqual([])
  expect(device.inside).toEqual([here.id])
})

test.each([
  ['deep inside, however inaccurate', 5_000, 0, 4_000, true],
  ['nearer to the edge than it is accurate', 5_000, 4_500, 600, false],
  ['near to the edge, within the tolerance', 5_000, 4_990, 100, true],
  ['in a small area, within its shorter side', 30, 25, 60, true],
  ['in a small area, beyond its shorter side', 30, 25, 61, false],
])('a position %s: entered %#', (_what, radius, north, accuracy, enters) => {
  const device = new JudgedDevice(definitions({ geofences: [geofence({ shape: circle(radius) })] }))
  expect(device.judge(at(0, { north, accuracy }))).toHaveLength(enters ? 1 : 0)
})

test.each([
  [79, undefined, false],
  [81, undefined, true],
  [109, 50, false],
  [111, 50, true],
])(
  '%d m from the middle of a circle of 60 m with accuracy %s, the device has left: %s',
  (north, accuracy, leaves) => {
    const device = new JudgedDevice(definitions({ geofences: [geofence()] }))
    device.judge(at(0))
    const fix = accuracy === undefined ? { north } : { north, accuracy }
    expect(device.judge(at(10, fix))).toHaveLength(leaves ? 1 : 0)
  },
)

test('one position leaves before it enters; each fact has the geofences after it', () => {
  // Their ids have the opposite order.
  const yard = geofence({ shape: circle(100, 1_000) })
  const region = geofence({ shape: circle(5_000) })
  const depot = geofence({ shape: circle(100) })
  const device = new JudgedDevice(definitions({ geofences: [yard, region, depot] }))
  device.judge(at(0))
  const decisions = device.decide(at(60, { north: 1_000 }))
  expect(decisions.map(({ type }) => type)).toEqual(['geofence.left', 'geofence.entered'])
  const after = listInsideAfterEach(device.state!.geofences, decisions).map((ids) =>
    [...ids].sort(),
  )
  expect(after).toEqual([[region.id], [yard.id, region.id].sort()])
})

test('a car parked inside a new geofence does not enter it, and its exit has no time of entry', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(0))
  const depot = geofence({ inForceSince: T0 + 100_000 })
  device.definitions = definitions({ geofences: [depot] })
  expect(device.judge(at(200))).toEqual([])
  expect(device.inside).toEqual([depot.id])
  expect(device.decide(at(300, { north: 500 }))).toMatchObject([
    { type: 'geofence.left', enteredAt: null, seconds: null },
  ])
})

test('a car inside a new geofence that next reports outside has left it', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(0))
  device.definitions = definitions({ geofences: [geofence({ inForceSince: T0 + 100_000 })] })
  expect(device.decide(at(200, { north: 500 }))).toMatchObject([
    { type: 'geofence.left', enteredAt: null },
  ])
})

test('a car parked inside a new geofence with inaccurate fixes is inside without a fact at the first accurate fix', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(0, { accuracy: 95 }))
  const small = geofence({ shape: circle(10), inForceSince: T0 + 100_000 })
  device.definitions = definitions({ geofences: [small] })
  expect(device.judge(at(200, { accuracy: 95 }), at(300, { accuracy: 5 }))).toEqual([])
  expect(device.inside).toEqual([small.id])
})

test('a passer-by, inaccurate when a small geofence was created, neither enters nor leaves it', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(0, { accuracy: 95 }))
  const small = geofence({ shape: circle(10), inForceSince: T0 + 100_000 })
  device.definitions = definitions({ geofences: [small] })
  expect(device.judge(at(200, { north: 500, accuracy: 5 }), at(300, { accuracy: 5 }))).toEqual([
    `entered ${small.id} @300`,
  ])
})

test('a car that drives into a new geofence enters it', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(0, { north: 500 }))
  const depot = geofence({ inForceSince: T0 + 100_000 })
  device.definitions = definitions({ geofences: [depot] })
  expect(device.judge(at(200))).toEqual([`entered ${depot.id} @200`])
})

test('a position from before a geofence was created, judged with it, enters without a fact', () => {
  const depot = geofence({ inForceSince: T0 + 100_000 })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0, { north: 500 }))
  expect(device.judge(at(50))).toEqual([])
  expect(device.inside).toEqual([depot.id])
})

test('a device outside a changed geofence leaves at its next position, with its time of entry', () => {
  const depot = geofence()
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0))
  const moved = { ...depot, shape: circle(60, 3_000), revision: 2, inForceSince: T0 + 100_000 }
  device.definitions = definitions({ geofences: [moved] })
  expect(device.decide(at(200))).toMatchObject([
    {
      type: 'geofence.left',
      enteredAt: T0,
      seconds: 200,
      geofence: { id: depot.id, revision: 2 },
    },
  ])
})

test('a device still inside a changed geofence keeps its time of entry', () => {
  const depot = geofence()
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0))
  const larger = { ...depot, shape: circle(600), revision: 2, inForceSince: T0 + 100_000 }
  device.definitions = definitions({ geofences: [larger] })
  expect(device.judge(at(200))).toEqual([])
  expect(device.decide(at(300, { north: 5_000 }))).toMatchObject([{ enteredAt: T0 }])
})

test.each([
  ['disabled', { enabled: false }],
  ['of other labels', { labels: ['night'] }],
])(
  'a geofence that becomes %s forgets its devices without a fact, and adopts them afterwards',
  (_what, change) => {
    const depot = geofence()
    const device = new JudgedDevice(definitions({ geofences: [depot] }))
    device.judge(at(0))
    device.definitions = definitions({
      geofences: [{ ...depot, ...change, revision: 2, inForceSince: T0 + 100_000 }],
    })
    expect(device.judge(at(200), at(210, { north: 500 }), at(220))).toEqual([])
    expect(device.inside).toEqual([])
    device.definitions = definitions({
      geofences: [{ ...depot, revision: 3, inForceSince: T0 + 300_000 }],
    })
    expect(device.judge(at(400))).toEqual([])
    expect(device.inside).toEqual([depot.id])
  },
)

test('a device that gets the label of a geofence around it is inside without a fact', () => {
  const depot = geofence({ labels: ['night'] })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0))
  device.definitions = definitions({
    geofences: [depot],
    labels: ['night'],
    selectedSince: T0 + 50_000,
  })
  expect(device.judge(at(100))).toEqual([])
  expect(device.inside).toEqual([depot.id])
})

test('a geofence applies to the devices it names and devices with any of its labels; with neither, to none', () => {
  const named = geofence({ deviceIds: ['tracker-1'], labels: ['day'] })
  const labelled = geofence({ deviceIds: ['tracker-2'], labels: ['day', 'night'] })
  const emptied = geofence({ deviceIds: [] })
  const geofences = [named, labelled, emptied, geofence({ labels: ['day'] })]
  const device = new JudgedDevice(definitions({ geofences, labels: ['night'] }))
  expect(device.judge(at(0))).toEqual([`entered ${named.id} @0`, `entered ${labelled.id} @0`])
})

test('a confirmed change of side counts from its first position, and is decided at the first position after the wait', () => {
  const depot = geofence({ confirmSeconds: 120 })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  const inputs = [at(0, { north: 500 }), at(60), at(100), at(179), at(180, { north: 30 })]
  const [entered] = device.decide(...inputs)
  expect(entered).toMatchObject({
    at: T0 + 60_000,
    position: inputs[1]?.position,
  })
  expect(device.judge(at(240, { north: 500 }), at(400, { north: 510 }))).toEqual([
    `left ${depot.id} @240`,
  ])
})

test('a visit shorter than confirmSeconds is not a visit', () => {
  const depot = geofence({ confirmSeconds: 120 })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  expect(device.judge(at(0, { north: 500 }), at(60), at(150, { north: 500 }))).toEqual([])
  expect(device.passTime(10_000)).toEqual([])
  expect(device.judge(at(11_000))).toEqual([])
})

test('a position that ends a wait is then judged itself: entered, and a new wait for the exit', () => {
  const depot = geofence({ confirmSeconds: 120 })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0, { north: 500 }), at(60))
  expect(device.judge(at(180, { north: 500 }))).toEqual([`entered ${depot.id} @60`])
  expect(device.judge(at(250, { north: 500 }))).toEqual([])
  expect(device.judge(at(300, { north: 500 }))).toEqual([`left ${depot.id} @180`])
})

test('without another position, a wait ends by the receipt time of the one that started it', () => {
  const depot = geofence({ confirmSeconds: 120 })
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  device.judge(at(0, { north: 500 }), at(60, { received: 90 }))
  expect(device.due).toBe(T0 + 210_000)
  expect(device.passTime(209)).toEqual([])
  expect(device.passTime(210)).toEqual([`entered ${depot.id} @60`])
  expect(device.due).toBeNull()
})

test('late positions, repeats and heartbeats do not move a device in or out', () => {
  const device = new JudgedDevice(definitions({ geofences: [geofence()] }))
  device.judge(at(100, { north: 500 }))
  const late = { ...at(50), isLate: true }
  const repeat = { ...at(100), isRepeat: true }
  expect(device.judge(late, repeat, heartbeat(200))).toEqual([])
  expect(device.inside).toEqual([])
})

test('a timestamp in the future counts as the time of receipt', () => {
  const depot = geofence()
  const device = new JudgedDevice(definitions({ geofences: [depot] }))
  expect(device.judge(at(5_000, { received: 10 }))).toEqual([`entered ${depot.id} @10`])
})

test('the parts of a multipolygon form one geofence', () => {
  const square = (north: number): PolygonRing => {
    const south = HOME.latitude + (north - 50) / DEGREE_METRES
    const [west, east] = [HOME.longitude - 0.001, HOME.longitude + 0.001]
    const top = south + 100 / DEGREE_METRES
    return [
      [west, south],
      [east, south],
      [east, top],
      [west, top],
      [west, south],
    ]
  }
  const both = geofence({
    shape: { type: 'MultiPolygon', coordinates: [[square(0)], [square(110)]] },
  })
  const device = new JudgedDevice(definitions({ geofences: [both] }))
  expect(device.judge(at(0), at(10, { north: 110 }), at(20, { north: 300 }))).toEqual([
    `entered ${both.id} @0`,
    `left ${both.id} @20`,
  ])
})

test('an inaccurate position on the seam at 180° is deep inside the geofence', () => {
  const box = (west: number, east: number) => [
    [
      [west, -18],
      [east, -18],
      [east, -16],
      [west, -16],
      [west, -18],
    ] as const,
  ]
  const coordinates = [box(177, 180), box(-180, -178)]
  const seam = geofence({ shape: { type: 'MultiPolygon', coordinates } })
  for (const longitude of [179.99995, -179.99995]) {
    const device = new JudgedDevice(definitions({ geofences: [seam] }))
    expect(device.judge(at(0, { latitude: -17, longitude, accuracy: 300 }))).toEqual([
      `entered ${seam.id} @0`,
    ])
  }
})

test('a geofence across the 180th meridian contains a device at both signs of longitude', () => {
  const edge = (west: number, east: number) =>
    geofence({
      shape: {
        type: 'Polygon',
        coordinates: [
          [
            [west, 44],
            [east, 44],
            [east, 46],
            [west, 46],
            [west, 44],
          ],
        ],
      },
    })
  const [western, eastern, across] = [edge(179, 180), edge(-180, -179), edge(179, -179)]
  const all = [western, eastern, across].map(({ id }) => id)
  for (const longitude of [180, -180]) {
    const device = new JudgedDevice(definitions({ geofences: [western, eastern, across] }))
    device.judge(at(0, { longitude, latitude: 45 }))
    expect(device.inside).toEqual(all)
  }
})
