import type { Database, Value } from '../../runtime/sqlite/database.ts'
import { sortedLabels } from '../../schemas/labels.ts'
import { deviceRanges } from '../device-ranges.ts'
import type { Devices, LabelCount } from '../read-models.ts'

/** Labels as they are stored: each between line breaks, which no label contains. */
export function labelText(labels: readonly string[]): string | null {
  return labels.length === 0 ? null : `\n${sortedLabels(labels).join('\n')}\n`
}

export function labelsIn(text: string): readonly string[] {
  return text.slice(1, -1).split('\n')
}

/** The condition that stored labels contain all of these. */
export function hasLabels(labels: readonly string[]): { sql: string; values: readonly Value[] } {
  return {
    sql: ['labels IS NOT NULL', ...labels.map(() => 'instr(labels, ?)')].join(' AND '),
    values: labels.map((label) => `\n${label}\n`),
  }
}

/** One scan of the index of labelled devices. */
const LABELS_OF_DEVICES = `SELECT labels, count(*) AS devices
  FROM json_each(?2) AS listed CROSS JOIN device_settings
  WHERE account_id = ?1 AND labels IS NOT NULL
    AND device_id BETWEEN listed.value ->> 0 AND listed.value ->> 1
    AND device_id NOT IN (SELECT value FROM json_each(?3))
  GROUP BY labels`

/** Counts the devices that have each label, without those in `hidden`. */
export function sqliteLabelCounts(database: Database) {
  const find = database.prepare<{ labels: string; devices: number }>(LABELS_OF_DEVICES)

  return function countLabels(
    { accountId, devices = ['*'] }: Parameters<Devices['countLabels']>[0],
    hidden: readonly string[],
  ): LabelCount[] {
    const rows = find.all(accountId, JSON.stringify(deviceRanges(devices)), JSON.stringify(hidden))
    const counts = new Map<string, number>()
    for (const { labels, devices } of rows) {
      for (const label of labelsIn(labels)) counts.set(label, (counts.get(label) ?? 0) + devices)
    }
    return sortedLabels([...counts.keys()]).map((label) => ({
      label,
      devices: counts.get(label) ?? 0,
    }))
  }
}
