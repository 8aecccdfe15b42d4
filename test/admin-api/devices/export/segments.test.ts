import { beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { T0 } from '../../../samples.ts'
import { startAdmin, type AdminHarness } from '../../admin-harness.ts'
import { ofXml } from './read-files.ts'

let harness: AdminHarness
let headers: Record<string, string>
let devices = 0

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

type Report = readonly [seconds: number, latitude: number]

async function reported(reports: readonly Report[]): Promise<string> {
  devices += 1
  const deviceId = `device-${devices}`
  const [first, ...others] = reports.map(([seconds, latitude]) => ({
    deviceId,
    timestamp: T0 - 86_400_000 + seconds * 1_000,
    latitude,
    longitude: 13,
  }))
  await harness.project(first!, ...others)
  return deviceId
}

/** The times of each segment's points. */
async function segmentsOf(deviceId: string, query = ''): Promise<string[][]> {
  const path = `/devices/${deviceId}/positions?format=gpx${query}`
  const { text } = await harness.api('GET', path, { headers })
  return Array.from(ofXml(text).getElementsByTagName('trkseg'), (segment) =>
    Array.from(segment.getElementsByTagName('time'), (time) => time.textContent ?? ''),
  )
}

/** When the gaps of the track end. */
async function gapEndsOf(deviceId: string): Promise<readonly string[]> {
  const answer = await harness.api('GET', `/devices/${deviceId}/track`, { headers })
  return (answer.body.data as never as { gaps: { to: string }[] }).gaps.map(({ to }) => to)
}

test('a GPX file has a new segment after each gap of the track, and nowhere else', async () => {
  const report = fc.tuple(
    fc.constantFrom(1, 10, 10, 60, 60, 1_000, 4_000),
    fc.constantFrom(50, 50.001, 50.01, 50.02, 0, 25),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 20 }), async (steps) => {
      let seconds = 0
      const deviceId = await reported(
        steps.map(([pause, latitude]): Report => [(seconds += pause), latitude]),
      )
      const segments = await segmentsOf(deviceId)
      expect(segments.flat()).toHaveLength(steps.length)
      const begins = segments.slice(1).map(([first]) => first)
      expect(begins).toEqual(await gapEndsOf(deviceId))
    }),
    { numRuns: 40 },
  )
})

test('a GPX file in reverse order has the same segments, which depend on the device’s expected interval', async () => {
  const reports: Report[] = [0, 60, 120, 1_500, 1_560, 9_000].map((at) => [at, 50])
  const deviceId = await reported(reports)
  const there = await segmentsOf(deviceId)
  expect(there.map(({ length }) => length)).toEqual([3, 2, 1])
  const back = await segmentsOf(deviceId, '&order=desc')
  expect(back.map((segment) => [...segment].reverse()).reverse()).toEqual(there)
  const body = { expectedIntervalSeconds: 600 }
  await harness.api('PATCH', `/devices/${deviceId}`, { headers, body })
  expect((await segmentsOf(deviceId)).map(({ length }) => length)).toEqual([5, 1])
})

test('the segments of a long GPX track continue across the pages read', async () => {
  const reports = Array.from({ length: 2_500 }, (_, n): Report => [
    n + (n >= 1_000 ? 7_200 : 0),
    50,
  ])
  const zero = reports.map(([at, latitude], n): Report => [at, n === 1_999 ? 0 : latitude])
  const segments = await segmentsOf(await reported(zero))
  expect(segments.map(({ length }) => length)).toEqual([1_000, 1_500])
})
