import { describe, expect, test } from '@jest/globals'
import { toFactEntry, toFactMessage } from '../../event-log/kafka/fact-topic.ts'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import { checkerOf, document, expectEnvelope } from './asyncapi-document.ts'
import { factsOfAllTypes } from './facts-samples.ts'

const { schemas, messages } = document.components

describe('a fact in the AsyncAPI document', () => {
  test('the documented fact matches the written message: key, headers, value', () => {
    const faultsOf = checkerOf(schemas.fact)
    for (const fact of factsOfAllTypes()) {
      const message = toFactMessage(fact)
      expectEnvelope(message, messages.fact)
      const value = JSON.parse(String(message.value)) as object
      expect(faultsOf(value)).toEqual([])
      const documented = Object.keys(schemas.fact.properties ?? {})
      expect(Object.keys(value).filter((name) => !documented.includes(name))).toEqual([])
    }
  })

  test('the document has the fact types that the code decides', () => {
    expect((schemas.factType as { enum?: unknown }).enum).toEqual([...FACT_TYPES])
  })

  test('the code can read the example of a fact', async () => {
    const [example] = messages.fact.examples
    const { headers = {}, payload } = example!
    expect(checkerOf(schemas.factHeaders)(headers)).toEqual([])
    expect(checkerOf(schemas.fact)(payload)).toEqual([])
    const value = Buffer.from(JSON.stringify(payload))
    const entry = await toFactEntry({ key: null, value, headers, offset: '4' }, 2)
    expect(entry).toMatchObject({ kind: 'fact', origin: { partition: 2, offset: 4 } })
    if (entry.kind !== 'fact') return
    expect(JSON.parse(String(toFactMessage(entry.event).value))).toEqual(payload)
  })
})
