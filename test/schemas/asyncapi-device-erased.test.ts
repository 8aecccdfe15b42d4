import { describe, expect, test } from '@jest/globals'
import { toEntry, toErasureMessage } from '../../event-log/kafka/event-format.ts'
import { deviceErased } from '../samples.ts'
import { checkerOf, document, expectEnvelope } from './asyncapi-document.ts'

const { schemas, messages } = document.components

describe('the erasure of a device in the AsyncAPI document', () => {
  test('the documented erasure matches the written message: key, headers, no value', () => {
    const message = toErasureMessage(deviceErased({ deviceId: 'a/b' }))
    expectEnvelope(message, messages.deviceErased)
    expect(checkerOf(messages.deviceErased.payload)(message.value)).toEqual([])
    expect(checkerOf(messages.deviceErased.payload)('{}')).not.toEqual([])
  })

  test('the code can read the example of an erasure', async () => {
    const [example] = messages.deviceErased.examples
    expect(checkerOf(schemas.erasureHeaders)(example!.headers)).toEqual([])
    expect(await read(example!.headers)).toMatchObject({
      kind: 'erasure',
      event: { erasedAt: Date.parse(String(example!.headers?.['ce_time'])) },
    })
  })

  test('an erasure requires the headers that the code needs', async () => {
    const { headers = {} } = toErasureMessage(deviceErased())
    for (const name of ['ce_id', 'ce_type', 'ce_time']) {
      expect(schemas.erasureHeaders.required).toContain(name)
      expect(await read({ ...headers, [name]: undefined })).toMatchObject({ kind: 'unreadable' })
    }
  })
})

function read(headers: Parameters<typeof toEntry>[0]['headers']) {
  const key = Buffer.from('acc-1/tracker-1')
  return toEntry({ key, value: null, headers: headers ?? {}, offset: '0' }, 0)
}
