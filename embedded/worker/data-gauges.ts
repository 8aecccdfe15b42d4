import { Gauge, type Registry } from 'prom-client'
import { dataBytes, freeBytes, lastBackupAt } from '../../runtime/sqlite/data-directory.ts'

/**
 * Exports the size of a data directory, the free space on its disk, and its newest backup, measured
 * at each scrape.
 */
export function exportData(registry: Registry, directory: string): void {
  /** Without a value while there is nothing to measure, or it cannot be measured. */
  function gauge(name: string, help: string, measure: () => Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await measure().catch(() => undefined)
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }

  gauge('gps_storage_data_bytes', 'Size of the data directory in bytes', () => dataBytes(directory))
  gauge('gps_storage_free_bytes', 'Bytes that its disk has left', () => freeBytes(directory))
  gauge(
    'gps_last_backup_timestamp_seconds',
    'When the newest complete backup started, in seconds since 1970',
    async () => {
      const at = await lastBackupAt(directory)
      return at === undefined ? undefined : at / 1_000
    },
  )
}
