import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { ReportMetrics, type CountedRequest } from '../../../ingest-api/accept/report-metrics.ts'
import type { RefusedReport } from '../../../ingest-api/accept/rejections.ts'
import { invalidParams, unavailable } from '../../../runtime/errors.ts'
import { createMetrics, type Metrics } from '../../../runtime/process/metrics.ts'

const key = { id: 'key-1', accountId: 'acc-1' }
const faulty = invalidParams([{ field: 'body', message: 'the body must be UTF-8' }])

let metrics: Metrics
let offered: RefusedReport[]
let reportMetrics: ReportMetrics

beforeEach(() => {
  metrics = createMetrics()
  offered = []
  const offer = (refusal: RefusedReport) => {
    offered.push(refusal)
    return { written: Promise.resolve(true) }
  }
  reportMetrics = new ReportMetrics({ metrics, rejections: { offer } })
})

afterEach(() => metrics.registry.clear())

async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.reports.get()
  const some = values.filter(({ value }) => value > 0)
  return Object.fromEntries(some.map(({ labels, value }) => [String(labels.outcome), value]))
}

test('a request that fails as a whole is counted once, however far up its error is caught', async () => {
  const request: CountedRequest = { key, chunks: [Buffer.from('{"a":1}')] }
  reportMetrics.failed(faulty, request)
  reportMetrics.failed(faulty, request)
  expect(await counted()).toEqual({ INVALID_PARAMS: 1 })
  expect(offered).toEqual([
    {
      key,
      error: 'INVALID_PARAMS',
      message: 'the body must be UTF-8',
      received: { chunks: request.chunks },
    },
  ])
})

test('a request whose reports were counted by outcome is not counted again when it fails later', async () => {
  reportMetrics.accepted(2)
  reportMetrics.failed(unavailable('the rejection could not be stored'), { key, isCounted: true })
  expect(await counted()).toEqual({ accepted: 2 })
  expect(offered).toEqual([])
})

test('a request that fails counts all its reports, and without a key it causes no rejection', async () => {
  reportMetrics.failed(unavailable('the log is away'), {}, 3)
  reportMetrics.failed(faulty, {})
  expect(await counted()).toEqual({ SERVICE_UNAVAILABLE: 3, INVALID_PARAMS: 1 })
  expect(offered).toEqual([])
})
