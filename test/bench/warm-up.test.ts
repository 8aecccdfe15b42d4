import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { forkTypescript, type Child } from '../../bench/fork.ts'
import { meterOf } from '../../bench/meter.ts'
import { FIRST, letAllReport, SINGLE } from '../../bench/warm-up.ts'

const DEVICES = 300

const known = new Set<string>()
let firstReports = 0
let generator: Child

const server = createServer((request, response) => {
  const answer = async () => {
    const body = JSON.parse(await text(request)) as { reports?: { deviceId: string }[] }
    const reports = body.reports ?? [body as { deviceId: string }]
    for (const { deviceId } of reports) {
      if (!known.has(deviceId)) firstReports += 1
      known.add(deviceId)
    }
    const data = `{"data":{"accepted":${reports.length}}}`
    response.setHeader('Content-Length', data.length).end(data)
  }
  answer().catch(() => response.destroy())
})

beforeEach(async () => {
  generator = forkTypescript('load/main.ts')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  await generator.stop()
  server.closeAllConnections()
  server.close()
})

test('after the warm-up every device is known; every first report was a first', async () => {
  const { port } = server.address() as AddressInfo
  const candidate = {
    ...({ name: 'embedded', key: 'gps_a', pid: process.pid } as const),
    url: `http://127.0.0.1:${port}`,
    settled: async () => undefined,
    stored: async () => 0,
    stop: async () => undefined,
  }
  const meter = meterOf(candidate, generator)
  await letAllReport(meter, DEVICES)
  firstReports = 0
  const shape = { ...SINGLE, devices: DEVICES }
  await meter.measure(shape, { seconds: 1, perSecond: 2 * DEVICES })
  expect(firstReports).toBe(0)
  const { acknowledged } = await meter.measure(FIRST, { seconds: 1, perSecond: 100 })
  expect(acknowledged).toBe(100)
  expect(firstReports).toBe(acknowledged)
})
