import { expect, test } from '@jest/globals'
import type { GeofenceShape } from '../../../schemas/definitions/geofence.ts'
import { T0 } from '../../samples.ts'
import { at, definitions, DEGREE_METRES, geofence, HOME, JudgedDevice } from './judging.ts'

function circle(radius: number, north = 0): GeofenceShape {
  const latitude = HOME.latitude + north / DEGREE_METRES
  return { type: 'circle', latitude, longitude: HOME.longitude, radius }
}

const MADE = 1_000
const depot = geofence({ inForceSince: T0 + MADE * 1_000 })
const known = definitions({ geofences: [depot] })

test('reports received before a geofence was created, but judged after a crash, neither enter nor leave it', () => {
  const device = new JudgedDevice(known)
  // The first position ever, a visit that ended before, and another.
  const visits = [0, 500, 0, 500, 0, 500].map((north, n) => at(n * 100, { north }))
  expect(device.judge(...visits)).toEqual([])
  expect(device.inside).toEqual([])
  expect(device.judge(at(MADE + 60, { north: 500 }), at(MADE + 120))).toEqual([
    `entered ${depot.id} @${MADE + 120}`,
  ])
})

test.each([
  ['its first position', [at(0)]],
  ['a later one', [at(0, { north: 500 }), at(100)]],
])(
  'a device that was inside when a geofence was created, by %s, is in it without a fact',
  (_, by) => {
    const device = new JudgedDevice(known)
    expect(device.judge(...by)).toEqual([])
    expect(device.inside).toEqual([depot.id])
    expect(device.judge(at(MADE + 60))).toEqual([])
    expect(device.decide(at(MADE + 120, { north: 500 }))).toMatchObject([
      { type: 'geofence.left', enteredAt: null, seconds: null },
    ])
  },
)

test('reports received before a change neither end nor start a visit to the changed geofence', () => {
  const device = new JudgedDevice(
    definitions({ geofences: [geofence({ ...depot, inForceSince: 0 })] }),
  )
  device.judge(at(0))
  device.definitions = definitions({
    geofences: [{ ...depot, shape: circle(60, 3_000), revision: 2 }],
  })
  expect(device.judge(at(100), at(200, { north: 3_000 }), at(300))).toEqual([])
  expect(device.decide(at(MADE + 60))).toMatchObject([{ type: 'geofence.left', enteredAt: T0 }])
})

test('reports received before a geofence was in force, but judged later, neither start nor end its waits', () => {
  const slow = { ...depot, confirmSeconds: 60 }
  const device = new JudgedDevice(definitions({ geofences: [slow] }))
  device.judge(at(MADE - 10, { north: 500 }))
  expect(device.judge(at(MADE + 10))).toEqual([])
  // Received earlier, by a clock that is ahead, through a spool: it comes later in the log.
  const early = at(MADE + 100, { received: MADE - 5 })
  const input = { ...early, position: { ...early.position, receivedAt: T0 + (MADE + 100) * 1_000 } }
  expect(device.judge(input)).toEqual([])
  expect(device.judge(at(MADE + 110))).toEqual([`entered ${slow.id} @${MADE + 10}`])
})

test('a wait to enter ends when the geofence is moved away', () => {
  const slow = geofence({ confirmSeconds: 3_600 })
  const device = new JudgedDevice(definitions({ geofences: [slow] }))
  device.judge(at(0, { north: 500 }), at(60))
  const away = { ...slow, shape: circle(60, 1_500_000), revision: 2, inForceSince: T0 + 100_000 }
  device.definitions = definitions({ geofences: [away] })
  expect(device.passTime(10_000)).toEqual([])
  expect(device.judge(at(11_000), at(12_000, { north: 500 }))).toEqual([])
  expect(device.inside).toEqual([])
})

test('a wait to enter ends without a fact when `confirmSeconds` is shortened: the device is already inside', () => {
  const slow = geofence({ confirmSeconds: 3_600 })
  const device = new JudgedDevice(definitions({ geofences: [slow] }))
  device.judge(at(0, { north: 500 }), at(60))
  const quick = { ...slow, confirmSeconds: 30, revision: 2, inForceSince: T0 + 100_000 }
  device.definitions = definitions({ geofences: [quick] })
  expect(device.judge(at(120))).toEqual([])
  expect(device.inside).toEqual([slow.id])
  expect(device.passTime(10_000)).toEqual([])
  expect(device.judge(at(10_010, { north: 500 }))).toEqual([])
  expect(device.passTime(10_050)).toEqual([`left ${slow.id} @10010`])
})

test('a wait to leave restarts at the first position after a change, with the new `confirmSeconds`', () => {
  const slow = geofence({ confirmSeconds: 3_600 })
  const device = new JudgedDevice(definitions({ geofences: [slow] }))
  device.judge(at(0))
  expect(device.passTime(3_600)).toEqual([`entered ${slow.id} @0`])
  device.judge(at(4_000, { north: 500 }))
  const quick = { ...slow, confirmSeconds: 30, revision: 2, inForceSince: T0 + 4_100_000 }
  device.definitions = definitions({ geofences: [quick] })
  expect(device.judge(at(4_200, { north: 500 }))).toEqual([])
  expect(device.passTime(4_230)).toEqual([`left ${slow.id} @4200`])
})

test('a new name or new properties change nothing for a waiting device', () => {
  const slow = geofence({ confirmSeconds: 60 })
  const device = new JudgedDevice(definitions({ geofences: [slow] }))
  device.judge(at(0, { north: 500 }), at(60))
  const renamed = { ...slow, name: 'Yard', properties: { a: 'b' }, revision: 2 }
  device.definitions = definitions({
    geofences: [{ ...renamed, changedAt: T0 + 90_000 }],
    selectedSince: T0 + 90_000,
  })
  expect(device.judge(at(120))).toEqual([`entered ${slow.id} @60`])
})

test('an inaccurate and then an accurate fix in the first seconds of a geofence: it is entered', () => {
  const device = new JudgedDevice(known)
  device.judge(at(MADE - 60, { north: 500 }))
  expect(device.judge(at(MADE + 5, { accuracy: 150 }))).toEqual([])
  expect(device.judge(at(MADE + 15))).toEqual([`entered ${depot.id} @${MADE + 15}`])
})

test('a geofence unknown while inaccurate fixes were judged is entered with the first accurate fix', () => {
  for (const inaccurate of [[2], [2, 3]]) {
    const device = new JudgedDevice(definitions())
    device.judge(at(MADE + 1, { north: 500, accuracy: 5 }))
    device.judge(...inaccurate.map((seconds) => at(MADE + seconds, { accuracy: 150 })))
    device.definitions = known
    expect(device.judge(at(MADE + 6, { accuracy: 5 }))).toEqual([
      `entered ${depot.id} @${MADE + 6}`,
    ])
    expect(device.decide(at(MADE + 20, { north: 500 }))).toMatchObject([
      { enteredAt: T0 + (MADE + 6) * 1_000 },
    ])
  }
  const parked = new JudgedDevice(definitions())
  parked.judge(at(MADE - 60, { accuracy: 5 }), at(MADE + 2, { accuracy: 150 }))
  parked.definitions = known
  expect(parked.judge(at(MADE + 6, { accuracy: 5 }))).toEqual([])
  expect(parked.inside).toEqual([depot.id])
})

test('a geofence unknown while a visit was judged contains the device without a fact', () => {
  const device = new JudgedDevice(definitions())
  device.judge(at(MADE + 2))
  device.definitions = known
  expect(device.judge(at(MADE + 10))).toEqual([])
  expect(device.inside).toEqual([depot.id])
})

test('a geofence disabled and enabled between two positions forgets the time of entry', () => {
  const device = new JudgedDevice(
    definitions({ geofences: [geofence({ ...depot, inForceSince: 0 })] }),
  )
  expect(device.judge(at(0))).toEqual([`entered ${depot.id} @0`])
  const enabledSince = T0 + MADE * 1_000
  device.definitions = definitions({ geofences: [{ ...depot, enabledSince, revision: 3 }] })
  expect(device.judge(at(MADE + 60))).toEqual([])
  expect(device.decide(at(MADE + 120, { north: 500 }))).toMatchObject([
    { type: 'geofence.left', enteredAt: null, seconds: null },
  ])
})

test('a geofence that shrank while disabled contains only devices with reports inside', () => {
  const device = new JudgedDevice(
    definitions({
      geofences: [geofence({ ...depot, shape: circle(350), inForceSince: T0 + 1_000 })],
    }),
  )
  expect(device.judge(at(0, { north: 90 }))).toEqual([])
  expect(device.judge(at(2, { north: 90 }))).toEqual([])
  expect(device.inside).toEqual([depot.id])
  const [shape, enabledSince] = [circle(60), T0 + MADE * 1_000]
  const smaller = { ...depot, shape, inForceSince: enabledSince, enabledSince, revision: 4 }
  device.definitions = definitions({ geofences: [geofence(smaller)] })
  expect(device.judge(at(MADE + 60))).toEqual([`entered ${depot.id} @${MADE + 60}`])
})
