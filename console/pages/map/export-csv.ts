import { devicesCsv } from '../../core/device-columns.ts'
import type { LiveDevice } from '../../core/live-device.ts'

/** Saves devices, in this order, as a CSV file. */
export function exportCsv(devices: readonly LiveDevice[]): void {
  saveFile('devices.csv', devicesCsv(devices), 'text/csv')
}

/** Offers a text to the browser as a file to save. */
function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
