import { expect, test } from '@jest/globals'
import { metricsPage } from '../../runtime/metrics-page.ts'
import { eventually } from '../eventually.ts'

test('one rendering a second at most serves all who ask, with the same bytes', async () => {
  let rendered = 0
  const page = metricsPage(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    rendered += 1
    return `gps_rendered ${rendered}`
  })
  const started = performance.now()
  const pages = await Promise.all(Array.from({ length: 500 }, () => page()))
  expect(new Set(pages).size).toBe(1)
  expect((await page()).toString()).toBe('gps_rendered 1')
  await eventually(async () => (await page()).toString() === 'gps_rendered 2')
  expect(performance.now() - started).toBeGreaterThanOrEqual(1_000)
})

test('a rendering that failed is tried again', async () => {
  let fails = true
  const page = metricsPage(async () => {
    if (fails) throw new Error('a source is away')
    return 'gps_ready 1'
  })
  await expect(page()).rejects.toThrow('away')
  fails = false
  await eventually(() => page().then(String, () => false))
})
