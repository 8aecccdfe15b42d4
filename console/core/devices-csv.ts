import { COLUMNS } from './device-columns.ts'
import type { LiveDevice } from './live-device.ts'

/** Devices as a CSV file (RFC 4180), one a line, in SI units and ISO 8601, with the API's names. */
export function devicesCsv(devices: readonly LiveDevice[]): string {
  const head = [...COLUMNS.map(({ field }) => field), 'latitude', 'longitude']
  const rows = devices.map((device) => [
    ...COLUMNS.map(({ value }) => value(device)),
    device.position.latitude,
    device.position.longitude,
  ])
  return [head, ...rows].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
}

/** A spreadsheet runs what looks like a formula; the API's exports put an apostrophe before it, too. */
const FORMULA = /(^|;)(?='*[=+\-@\t\r＝＋－＠])/g

function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = value.replace(FORMULA, "$1'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
