import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { describeWith } from '../services/describe-with.ts'
import { ownDirectory } from '../own-directory.ts'

const run = promisify(execFile)
const RULES = fileURLToPath(new URL('../../ops/alerts.yaml', import.meta.url))

await describeWith(['prometheus'], 'a fresh process', () => {
  let page: string

  beforeAll(async () => {
    page = await createMetrics().registry.metrics()
  })

  /** Ten minutes of a series from a fresh process, one value per minute. */
  const fresh = (series: string) => (page.includes(`\n${series} 0\n`) ? '0x9' : '_x9')

  test('GpsRejectionsDropped fires when a new process drops its first rejections', async () => {
    const series = 'gps_rejections_total{outcome="dropped"}'
    const alerts = await firing({ [series]: `${fresh(series)} 500x9` })
    expect(alerts).toContain('GpsRejectionsDropped')
  })

  test('GpsProjectorStalled fires when the projector of a new process never makes progress', async () => {
    const series = 'gps_projected_events_total{outcome="stored"}'
    const values = `${fresh(series)} ${fresh(series)}`
    const alerts = await firing({ [series]: values, gps_projector_lag_events: '7x19' })
    expect(alerts).toContain('GpsProjectorStalled')
  })
})

await describeWith(['prometheus'], 'facts', () => {
  const HELD = { at: '75m' }

  test('GpsFactsLag fires when facts stay behind positions, even while both are late', async () => {
    for (const positions of ['0x19', '300x19']) {
      const series = { gps_facts_lag_seconds: '400x19', gps_projector_lag_seconds: positions }
      expect(await firing(series)).toContain('GpsFactsLag')
    }
  })

  test('GpsFactsLag does not fire if facts are as late as positions, or only briefly late', async () => {
    const both = { gps_facts_lag_seconds: '400x19', gps_projector_lag_seconds: '390x19' }
    expect(await firing(both)).not.toContain('GpsFactsLag')
    const briefly = { gps_facts_lag_seconds: '0x8 400x3 0x8', gps_projector_lag_seconds: '0x19' }
    expect(await firing(briefly)).not.toContain('GpsFactsLag')
  })

  test('GpsFactsFail fires when a device cannot be judged', async () => {
    expect(await firing({ gps_facts_failed_total: '0x8 1x11' })).toContain('GpsFactsFail')
    expect(await firing({ gps_facts_failed_total: '4x19' })).not.toContain('GpsFactsFail')
  })

  test('GpsSilenceHeld fires when silences have not been judged for an hour', async () => {
    expect(await firing({ gps_silence_held: '1x80' }, HELD)).toContain('GpsSilenceHeld')
  })

  test('GpsSilenceHeld does not fire after a start, or while one projector judges', async () => {
    expect(await firing({ gps_silence_held: '1x10 0x70' }, HELD)).not.toContain('GpsSilenceHeld')
    const two = {
      'gps_silence_held{instance="a"}': '1x80',
      'gps_silence_held{instance="b"}': '0x80',
    }
    expect(await firing(two, HELD)).not.toContain('GpsSilenceHeld')
  })
})

await describeWith(['prometheus'], 'subscriptions', () => {
  const of = (state: string) => `gps_subscriptions{state="${state}",instance="a"}`
  const LATE = { at: '70m' }

  test('GpsSubscriptionsFailing fires once a subscription has been failing for an hour, not before', async () => {
    expect(await firing({ [of('failing')]: '1x80' }, LATE)).toContain('GpsSubscriptionsFailing')
    const healed = { [of('failing')]: '1x50 0x1 1x28' }
    expect(await firing(healed, LATE)).not.toContain('GpsSubscriptionsFailing')
  })

  test('GpsSubscriptionDisabled fires only during the hour after a subscription was disabled', async () => {
    expect(await firing({ [of('disabled')]: '1x60 2x20' }, LATE)).toContain(
      'GpsSubscriptionDisabled',
    )
    expect(await firing({ [of('disabled')]: '0x60 1x20' }, LATE)).toContain(
      'GpsSubscriptionDisabled',
    )
    // A restarted deliverer counts from zero.
    expect(await firing({ [of('disabled')]: '2x5 0x1 2x80' }, LATE)).not.toContain(
      'GpsSubscriptionDisabled',
    )
  })

  test('GpsDeliveriesBehind fires if a receiver that does not fail is far behind', async () => {
    const behind = { gps_delivery_behind_seconds: '4000x80', [of('failing')]: '0x80' }
    expect(await firing(behind, LATE)).toContain('GpsDeliveriesBehind')
    expect(await firing({ ...behind, [of('failing')]: '1x80' }, LATE)).not.toContain(
      'GpsDeliveriesBehind',
    )
    const everyHour = { ...behind, gps_delivery_behind_seconds: '3600x80' }
    expect(await firing(everyHour, LATE)).not.toContain('GpsDeliveriesBehind')
  })
})

await describeWith(['prometheus'], 'the data directory', () => {
  const SECONDS = 'gps_last_backup_timestamp_seconds'
  const THREE_DAYS = { at: '3d', every: '10m' }
  const data = { gps_storage_data_bytes: '5e9x4320' }

  test.each([
    ['whose newest backup is three days old', { ...data, [SECONDS]: '0x4320' }],
    ['that was never backed up', data],
  ])('a data directory %s sets off GpsBackupOld', async (_, series) => {
    expect(await firing(series, THREE_DAYS)).toContain('GpsBackupOld')
  })

  test.each([
    ['with a backup of the day before', { ...data, [SECONDS]: '0x2880 172800x1440' }],
    ['that is new', { gps_storage_data_bytes: '_x3000 5e9x1320' }],
    ['that is gone', { gps_storage_data_bytes: '5e9x1500' }],
  ])('a data directory %s does not set off GpsBackupOld', async (_, series) => {
    expect(await firing(series, THREE_DAYS)).not.toContain('GpsBackupOld')
  })

  const FREE = 'gps_storage_free_bytes'

  test.each([
    ['fills by a fifth a day', { [FREE]: '100e9-14e6x4320' }],
    ['is nearly full', { [FREE]: '9e8x4320' }],
  ])('a disk that %s sets off GpsDiskFills', async (_, series) => {
    expect(await firing(series, THREE_DAYS)).toContain('GpsDiskFills')
  })

  test('GpsDiskFills does not fire for a disk with room for months and a backup each night', async () => {
    const night = '100e9x180 97e9x1260'
    const nights = [night, night.replaceAll('100', '99'), night.replaceAll('100', '98')].join(' ')
    expect(await firing({ [FREE]: nights }, THREE_DAYS)).not.toContain('GpsDiskFills')
  })
})

/**
 * Promtool's list of alerts firing after some time of these series, which have one value per
 * minute.
 */
async function firing(
  series: Record<string, string>,
  { at = '14m', every = '1m' } = {},
): Promise<string> {
  const folder = await ownDirectory()
  const file = join(folder, 'test.yaml')
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }))
  // Expects impossible alerts so that promtool prints the actual ones.
  const exp_samples = [{ labels: 'ALERTS', value: 0 }]
  const promql_expr_test = [{ expr: 'ALERTS{alertstate="firing"}', eval_time: at, exp_samples }]
  const tests = [{ interval: '1m', input_series, promql_expr_test }]
  const rules = { rule_files: [RULES], evaluation_interval: every }
  await writeFile(file, JSON.stringify({ ...rules, tests }))
  const said = await run('promtool', ['test', 'rules', file]).catch(
    (failed: { stdout: string; stderr: string }) => failed,
  )
  return said.stdout + said.stderr
}
