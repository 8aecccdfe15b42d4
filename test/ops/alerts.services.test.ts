import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { createMetrics } from '../../runtime/metrics.ts'
import { describeWith } from '../services/describe-with.ts'
import { ownDirectory } from '../own-directory.ts'

const run = promisify(execFile)
const RULES = fileURLToPath(new URL('../../ops/alerts.yaml', import.meta.url))

await describeWith(['prometheus'], 'a fresh process', () => {
  let page: string

  beforeAll(async () => {
    page = await createMetrics().registry.metrics()
  })

  /** Ten minutes of a series as a fresh process exports it, a value a minute. */
  const fresh = (series: string) => (page.includes(`\n${series} 0\n`) ? '0x9' : '_x9')

  test('that drops its first rejections sets off GpsRejectionsDropped', async () => {
    const series = 'gps_rejections_total{outcome="dropped"}'
    const alerts = await firing({ [series]: `${fresh(series)} 500x9` })
    expect(alerts).toContain('GpsRejectionsDropped')
  })

  test('whose projector never gets on sets off GpsProjectorStalled', async () => {
    const series = 'gps_projected_events_total{outcome="stored"}'
    const values = `${fresh(series)} ${fresh(series)}`
    const alerts = await firing({ [series]: values, gps_projector_lag_events: '7x19' })
    expect(alerts).toContain('GpsProjectorStalled')
  })
})

/** Promtool's list of the alerts that fire after 14 minutes of these series. */
async function firing(series: Record<string, string>): Promise<string> {
  const folder = await ownDirectory()
  const file = join(folder, 'test.yaml')
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }))
  // Expects impossible alerts, so that promtool prints the real ones.
  const exp_samples = [{ labels: 'ALERTS', value: 0 }]
  const promql_expr_test = [{ expr: 'ALERTS{alertstate="firing"}', eval_time: '14m', exp_samples }]
  const tests = [{ interval: '1m', input_series, promql_expr_test }]
  await writeFile(file, JSON.stringify({ rule_files: [RULES], tests }))
  const said = await run('promtool', ['test', 'rules', file]).catch(
    (failed: { stdout: string; stderr: string }) => failed,
  )
  return said.stdout + said.stderr
}
