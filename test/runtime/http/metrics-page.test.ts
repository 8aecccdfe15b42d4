import { expect, jest, test } from '@jest/globals'
import { Counter, Registry } from 'prom-client'
import { metricsPage, threadMetrics, type MetricsJson } from '../../../runtime/http/metrics-page.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'

test('metrics are rendered at most once a second; all requests share the bytes', async () => {
  let rendered = 0
  fakeTimers('performance')
  const page = metricsPage(async () => {
    await new Promise(setImmediate)
    rendered += 1
    return `gps_rendered ${rendered}`
  })
  const pages = await Promise.all(Array.from({ length: 500 }, () => page()))
  expect(new Set(pages).size).toBe(1)
  jest.advanceTimersByTime(999)
  expect((await page()).toString()).toBe('gps_rendered 1')
  jest.advanceTimersByTime(1)
  expect((await page()).toString()).toBe('gps_rendered 2')
  jest.useRealTimers()
})

test('a failed rendering is retried', async () => {
  let fails = true
  const page = metricsPage(async () => {
    if (fails) throw new Error('a source is away')
    return 'gps_ready 1'
  })
  await expect(page()).rejects.toThrow('away')
  fails = false
  await eventually(() => page().then(String, () => false))
})

test('while a thread does not respond, its last metrics are exported without delay', async () => {
  jest.useFakeTimers()
  try {
    const mine = registryWith('gps_mine_total')
    const other = threadMetrics(registryWith('gps_theirs_total'))
    let busy = true
    const metrics = threadMetrics(mine)
    metrics.join(() => (busy ? new Promise<MetricsJson>(() => undefined) : other.json()))

    expect(await textAfterOneSecond()).toEqual([
      'gps_mine_total 1',
      'gps_metrics_unanswered_total 1',
    ])
    busy = false
    const both = ['gps_mine_total 1', 'gps_metrics_unanswered_total 1', 'gps_theirs_total 1']
    expect(lines(await metrics.text())).toEqual(both)
    busy = true
    both[1] = 'gps_metrics_unanswered_total 2'
    expect(await textAfterOneSecond()).toEqual(both)

    async function textAfterOneSecond(): Promise<string[]> {
      const text = metrics.text()
      await jest.advanceTimersByTimeAsync(1_000)
      return lines(await text)
    }
  } finally {
    jest.useRealTimers()
  }
})

test('this thread’s metrics are exported after the other thread has ended', async () => {
  const metrics = threadMetrics(registryWith('gps_mine_total'))
  metrics.join(() => Promise.reject(new Error('the other thread of this process has ended')))
  expect(lines(await metrics.text())).toContain('gps_mine_total 1')
})

function registryWith(name: string): Registry {
  const registry = new Registry()
  new Counter({ name, help: 'A count', registers: [registry] }).inc()
  return registry
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}
