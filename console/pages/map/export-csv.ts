import { devicesCsv } from '../../core/device-columns.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { saveFile } from '../../ui/save-file.ts'

/** Saves devices, in this order, as a CSV file. */
export function exportCsv(devices: readonly LiveDevice[]): void {
  saveFile('devices.csv', devicesCsv(devices), 'text/csv')
}
