import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { FactInput } from '../../../projector/facts/decider.ts'
import { at, definitions, geofence, heartbeat, JudgedDevice, rule } from './judging.ts'

const depot = geofence({ confirmSeconds: 60 })
const yard = geofence({
  shape: { type: 'circle', latitude: 45.2745, longitude: 13.7, radius: 300 },
})
const known = definitions({
  geofences: [depot, yard],
  rules: [
    rule({ when: { field: 'speed', above: 10, clear: 5 }, forSeconds: 90 }),
    rule({ when: { field: 'battery', below: 0.2 }, geofenceIds: [yard.id] }),
    rule({ when: { inside: depot.id }, forSeconds: 200 }),
    rule({ when: { outside: depot.id }, forSeconds: 30 }),
    rule({ when: { stopped: true }, forSeconds: 400 }),
    rule({ when: { silent: true }, forSeconds: 120 }),
  ],
})

/** A device's input: seconds since the previous one, position and fields. */
const said = fc.record({
  after: fc.integer({ min: 0, max: 150 }),
  delay: fc.constantFrom(0, 0, 0, 40, 200),
  north: fc.constantFrom(0, 30, 70, 90, 400, 900),
  accuracy: fc.constantFrom(undefined, 5, 65, 95),
  speed: fc.constantFrom(undefined, 0, 7, 20),
  battery: fc.constantFrom(undefined, 0.1, 0.9),
  isHeartbeat: fc.boolean(),
  /** Sweeps before the next input, as fractions of the time until then. */
  sweeps: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
})

test('the same inputs give the same decisions, wherever sweeps happen and batches start', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 25 }), (steps) => {
      const [whole, swept] = [new JudgedDevice(known), new JudgedDevice(known)]
      const together: string[] = []
      const apart: string[] = []
      let received = 0
      for (const step of steps) {
        const before = received
        received += step.after
        const input = inputOf(step, received)
        // A sweep advances time up to the last judged input, never beyond the next.
        for (const part of [...step.sweeps].sort((a, b) => a - b)) {
          apart.push(...swept.passTime(before + Math.floor(part * step.after)))
        }
        together.push(...whole.judge(input))
        apart.push(...swept.judge(input))
      }
      expect(apart).toEqual(together)
      expect(swept.state).toEqual(whole.state)
    }),
    { numRuns: 200 },
  )
})

test('geofences are left before they are entered again, and rules cleared before they are raised again', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 40 }), (steps) => {
      const device = new JudgedDevice(known)
      const last = new Map<string, string>()
      let received = 0
      for (const step of steps) {
        received += step.after
        for (const decision of device.judge(inputOf(step, received))) {
          const [what = '', id = ''] = decision.split(' ')
          const began = what === 'entered' || what === 'raised'
          expect(last.get(id) ?? 'ended').toBe(began ? 'ended' : 'began')
          last.set(id, began ? 'began' : 'ended')
        }
      }
      for (const id of device.inside) expect(last.get(id)).toBe('began')
    }),
    { numRuns: 200 },
  )
})

/** A simple model of one geofence without accuracy and confirmation: 60 m to enter, 80 m to leave. */
test('a geofence without accuracy is judged like two circles', () => {
  const plain = geofence()
  const metres = fc.integer({ min: -150, max: 150 })
  fc.assert(
    fc.property(fc.array(metres, { minLength: 1, maxLength: 60 }), (norths) => {
      const device = new JudgedDevice(definitions({ geofences: [plain] }))
      let isInside = false
      const expected = norths.flatMap((north, n) => {
        const apart = Math.abs(north)
        if (!isInside && apart < 60) {
          isInside = true
          return [`entered ${plain.id} @${n * 10}`]
        }
        if (isInside && apart > 80) {
          isInside = false
          return [`left ${plain.id} @${n * 10}`]
        }
        return []
      })
      fc.pre(norths.every((north) => ![60, 80].includes(Math.abs(north))))
      expect(device.judge(...norths.map((north, n) => at(n * 10, { north })))).toEqual(expected)
    }),
  )
})

type Said = typeof said extends fc.Arbitrary<infer Value> ? Value : never

function inputOf(
  { delay, north, accuracy, speed, battery, isHeartbeat }: Said,
  received: number,
): FactInput {
  if (isHeartbeat) return heartbeat(received, battery === undefined ? {} : { battery })
  return at(received - delay, {
    north,
    received,
    ...(accuracy !== undefined && { accuracy }),
    ...(speed !== undefined && { speed }),
    ...(battery !== undefined && { battery }),
  })
}
