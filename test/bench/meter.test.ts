import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { forkTypescript, type Child } from '../../bench/fork.ts'
import { meterOf } from '../../bench/meter.ts'

const SHAPE = { name: '1 connection', connections: 1, batch: 1 }

let generator: Child
let requests = 0
const server = createServer((request, response) => {
  requests += 1
  if (requests === 1) response.statusCode = 503
  request.resume().on('end', () => response.setHeader('Content-Length', 2).end('{}'))
})

beforeEach(async () => {
  requests = 0
  generator = forkTypescript('load/main.ts')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await generator.stop()
  server.closeAllConnections()
  server.close()
})

/** A service that has stored all reports except the rejected one and the `lost` ones. */
function service({ lost }: { lost: number }) {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    ...({ name: 'embedded', key: 'gps_x', pid: process.pid } as const),
    url: `http://127.0.0.1:${address.port}`,
    settled: async () => undefined,
    stored: async () => requests - 1 - lost,
    stop: async () => undefined,
  }
}

test('a response other than 200 voids the measurement', async () => {
  const meter = meterOf(service({ lost: 0 }), generator)
  const { acknowledged, failed } = await meter.measure(SHAPE, { seconds: 0.1 })
  expect([acknowledged, failed]).toEqual([requests - 1, { 503: 1 }])
  expect(await meter.faults()).toEqual(['embedded, 1 connection: 1 responses with status 503'])
})

test('an acknowledged report that is not stored voids the measurement', async () => {
  const meter = meterOf(service({ lost: 1 }), generator)
  await meter.measure(SHAPE, { seconds: 0.1 })
  await meter.measure(SHAPE, { seconds: 0.1, perSecond: 100 })
  const fault = `embedded: ${requests - 1} reports acknowledged, ${requests - 2} stored`
  expect(await meter.faults()).toContain(fault)
})

test('a failed order gives its reason', async () => {
  const load = { target: { url: 'http://127.0.0.1:1', key: 'gps_x', batch: 1 }, connections: 1 }
  await expect(generator.ask(load)).rejects.toThrow(/^bench\/load\/main.ts failed: .*ECONNREFUSED/)
})
