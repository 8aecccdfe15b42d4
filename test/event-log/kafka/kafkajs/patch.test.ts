import { createRequire } from 'node:module'
import { expect, test } from '@jest/globals'
import { patchKafkajs } from '../../../../event-log/kafka/kafkajs/patch.ts'

type Queue = {
  pending: { send(): void; expectResponse: boolean }[]
  throttleCheckTimeoutId: unknown
  throttledUntil: number
  scheduleCheckPendingRequests(): void
  destroy(): void
}

function queue(): Queue {
  const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
    options: object,
  ) => Queue
  const logger = { debug: () => undefined }
  return new RequestQueue({ maxInFlightRequests: 1, requestTimeout: 1, logger })
}

test('a connection without waiting requests has no timer', () => {
  patchKafkajs()
  const idle = queue()
  idle.scheduleCheckPendingRequests()
  expect(idle.throttleCheckTimeoutId).toBeNull()
  idle.destroy()
})

test('a request throttled by a broker is sent once allowed', async () => {
  patchKafkajs()
  const throttled = queue()
  const sent = new Promise<void>((resolve) => {
    throttled.pending.push({ send: resolve, expectResponse: true })
  })
  throttled.throttledUntil = Date.now() + 20
  throttled.scheduleCheckPendingRequests()
  await sent
  throttled.destroy()
})
