import { expect, test } from '@jest/globals'
import { BSON } from 'mongodb'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { ulid } from '../../../schemas/events/record-id.ts'
import { readOutbox, writeOutbox } from '../../../store/mongo/outbox.ts'
import { T0 } from '../../samples.ts'

const MOST_INSIDE = 100
const id = (n: number) => ulid(T0, Buffer.alloc(10, String(n)))
const geofence = (n: number) => ({
  id: id(n),
  name: 'ž'.repeat(200),
  revision: 1,
  properties: Object.fromEntries(Array.from({ length: 10 }, (_, p) => [`p${p}`, 'ž'.repeat(256)])),
})
const position = {
  recordId: id(0),
  latitude: 52.123456,
  longitude: 13.123456,
  timestamp: T0,
  receivedAt: T0,
  attributes: { alarm: 'x'.repeat(2_000) },
}

/** Everything that one position can cause. */
function largestInput(): DeviceFact[] {
  let inside = Array.from({ length: MOST_INSIDE }, (_, n) => id(n))
  let sequence = 0
  const common = (): Omit<DeviceFact, 'type'> => {
    sequence += 1
    const device = { accountId: 'acc-1', deviceId: 'd'.repeat(128) }
    return { ...device, id: id(sequence), sequence, at: T0, decidedAt: T0, position, inside }
  }
  const facts: object[] = []
  for (let n = 0; n < 16; n += 1) {
    facts.push({ ...common(), type: 'alarm.reported', alarm: 'a'.repeat(64), late: false })
  }
  for (let n = 0; n < MOST_INSIDE; n += 1) {
    inside = inside.slice(1)
    facts.push({
      ...common(),
      type: 'geofence.left',
      geofence: geofence(n),
      enteredAt: T0,
      seconds: 9,
    })
  }
  for (let n = 0; n < MOST_INSIDE; n += 1) {
    inside = [...inside, id(n)]
    facts.push({ ...common(), type: 'geofence.entered', geofence: geofence(n) })
  }
  const rule = { id: id(1), name: 'ž'.repeat(200), revision: 1 }
  for (let n = 0; n < 200; n += 1) {
    const value = 'x'.repeat(2_000)
    facts.push({ ...common(), type: 'rule.cleared', rule, value, raisedAt: T0, seconds: 9 })
    facts.push({ ...common(), type: 'rule.raised', rule, value })
  }
  return facts as DeviceFact[]
}

test('the largest possible input makes an outbox far below a document’s 16 MB', () => {
  const facts = largestInput()
  expect(facts).toHaveLength(616)
  const outbox = writeOutbox(facts)
  expect(BSON.calculateObjectSize({ outbox })).toBeLessThan(5 * 2 ** 20)
  expect(readOutbox(outbox)).toEqual(facts)
})

test('an outbox stores the common part of an input’s facts only once', () => {
  const facts = largestInput().slice(0, 16)
  const [first = '', ...others] = writeOutbox(facts)
  expect(first).toContain('latitude')
  for (const other of others) expect(other.length).toBeLessThan(500)
})

test('an outbox of version 0.3.0, with complete facts, is readable', () => {
  const facts = largestInput().slice(0, 20)
  expect(readOutbox(facts.map((fact) => JSON.stringify(fact)))).toEqual(facts)
})

test('facts of different positions, or without a position, are stored unchanged', () => {
  const [one, two] = largestInput() as [DeviceFact, DeviceFact]
  const without = { ...two }
  delete (without as { position?: unknown }).position
  const other = { ...two, position: { ...position, recordId: 'other' } }
  const facts = [one, other, without, two, { ...two, inside: [] }] as DeviceFact[]
  expect(readOutbox(writeOutbox(facts))).toEqual(facts)
})
