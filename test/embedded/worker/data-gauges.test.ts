import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { exportData } from '../../../embedded/worker/data-gauges.ts'
import { noteBackup } from '../../../runtime/sqlite/data-directory.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()

test('each scrape measures the data and its disk, and reports the newest backup', async () => {
  const data = join(directory(), 'data')
  const registry = new Registry()
  exportData(registry, data)
  const valueOf = async (name: string) =>
    new RegExp(`^${name} (.+)$`, 'm').exec(await registry.metrics())?.[1]

  mkdirSync(data)
  writeFileSync(join(data, 'log.sqlite'), Buffer.alloc(1_000))
  expect(await valueOf('gps_storage_data_bytes')).toBe('1000')
  expect(Number(await valueOf('gps_storage_free_bytes'))).toBeGreaterThan(1_000)
  expect(await valueOf('gps_last_backup_timestamp_seconds')).toBeUndefined()

  await noteBackup(data, T0)
  expect(await valueOf('gps_last_backup_timestamp_seconds')).toBe(String(T0 / 1_000))

  // A stale value would suggest that all is well.
  rmSync(data, { recursive: true })
  for (const name of ['storage_data_bytes', 'storage_free_bytes', 'last_backup_timestamp_seconds'])
    expect(await valueOf(`gps_${name}`)).toBeUndefined()
})
