import { expect, test } from '@jest/globals'
import { UndecodableEventError } from '../../../schemas/events/event-fields.ts'
import { decodeFact, encodeFact } from '../../../schemas/events/fact-event.ts'
import { factsOfAllTypes } from '../facts-samples.ts'

test('a fact survives writing and reading unchanged', () => {
  for (const fact of factsOfAllTypes()) expect(decodeFact(encodeFact(fact))).toEqual(fact)
})

test('a fact is written with times as text, as in the API', () => {
  const written = JSON.parse(encodeFact(factsOfAllTypes()[4]!)) as object
  expect(written).toMatchObject({
    accountId: 'acc-1',
    type: 'geofence.left',
    at: '2026-01-01T00:00:00.004Z',
    decidedAt: '2026-01-01T00:00:01.004Z',
    enteredAt: '2025-12-31T23:29:30.000Z',
    position: { deviceId: 'tracker-1', battery: 0.5 },
  })
})

test('unknown fields of later versions are preserved', () => {
  const [fact] = factsOfAllTypes()
  const json = JSON.stringify({ ...(JSON.parse(encodeFact(fact!)) as object), colour: 'red' })
  expect(decodeFact(json)).toMatchObject(fact!)
})

test.each(['id', 'type', 'sequence', 'accountId', 'deviceId', 'at', 'decidedAt', 'inside'])(
  'a fact without %s cannot be read',
  (name) => {
    const [fact] = factsOfAllTypes()
    const fields = JSON.parse(encodeFact(fact!)) as Record<string, unknown>
    const without = { ...fields, [name]: undefined }
    expect(() => decodeFact(JSON.stringify(without))).toThrow(UndecodableEventError)
    expect(() => decodeFact(JSON.stringify({ ...fields, [name]: {} }))).toThrow(name)
  },
)

test('a value that is not a JSON object, or has a damaged position, cannot be read', () => {
  const [fact] = factsOfAllTypes()
  const fields = JSON.parse(encodeFact(fact!)) as object
  for (const text of ['', '[]', 'null', JSON.stringify({ ...fields, position: 3 })]) {
    expect(() => decodeFact(text)).toThrow(UndecodableEventError)
  }
})
