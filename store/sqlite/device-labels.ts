import { turnTaker } from '../../runtime/end-of-turn.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { sortLabels } from '../../schemas/devices/labels.ts'
import { deviceRanges } from './device-filters.ts'
import { LabelCounts } from '../label-counts.ts'
import type { Devices, LabelCount } from '../read-models.ts'

/** Labels as they are stored: each between line breaks, which no label contains. */
export function labelText(labels: readonly string[]): string | null {
  return labels.length === 0 ? null : `\n${sortLabels(labels).join('\n')}\n`
}

export function parseLabels(text: string): readonly string[] {
  return text.slice(1, -1).split('\n')
}

const COUNTED_AT_ONCE = 1_000

/** Along the index of labelled devices. */
const LABELLED = `SELECT device_id, labels FROM device_settings
  WHERE account_id = ? AND labels IS NOT NULL AND device_id > ? AND device_id <= ?
  ORDER BY device_id LIMIT ${COUNTED_AT_ONCE}`

/**
 * Counts the devices that have each label, without devices in `hidden`; other work runs in between.
 */
export function sqliteLabelCounts(database: Database) {
  const find = database.prepare<{ device_id: string; labels: string }>(LABELLED)
  const first = database.prepare<{ labels: string | null }>(
    'SELECT labels FROM device_settings WHERE account_id = ? AND device_id = ?',
  )

  return async function countLabels(
    { accountId, devices = ['*'], ...page }: Parameters<Devices['countLabels']>[0],
    hidden: readonly string[],
  ): Promise<LabelCount[]> {
    const counts = new LabelCounts(page)
    const absent = new Set(hidden)
    const turnEnds = turnTaker()
    for (const [from, to] of deviceRanges(devices)) {
      await turnEnds()
      const exact = first.get(accountId, from)?.labels
      if (typeof exact === 'string') count(from, exact)
      if (from === to) continue
      for (let last = from; ;) {
        const part = find.all(accountId, last, to)
        for (const { device_id, labels } of part) count(device_id, labels)
        last = part.at(-1)?.device_id ?? to
        if (part.length < COUNTED_AT_ONCE) break
        await turnEnds()
      }
    }
    return counts.list()

    function count(deviceId: string, labels: string): void {
      if (absent.has(deviceId)) return
      for (const label of parseLabels(labels)) counts.add(label, 1)
    }
  }
}
