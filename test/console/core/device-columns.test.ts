import { expect, test } from '@jest/globals'
import { devicesCsv } from '../../../console/core/device-columns.ts'
import { newDevice, rename } from '../../../console/core/live-device.ts'

const AT = '2026-01-31T12:00:00.000Z'
const position = { recordId: 'r', latitude: 52.5, longitude: -13.4, timestamp: AT, receivedAt: AT }

test('a list of devices is exported as CSV with the units and names of the API', () => {
  const van = newDevice('van-1', { ...position, speed: 8.5, battery: 0.5 })
  van.labels = ['Night', 'South']
  rename(van, 'Van "One", red')
  const [head, row, rest] = devicesCsv([van], () => 'in Berlin').split('\r\n')
  expect(head).toBe(
    'name,deviceId,status,lastSeenAt,speed,timestamp,battery,labels,reportCount,firstSeenAt,latitude,longitude,place',
  )
  expect(row).toBe(
    `"Van ""One"", red",van-1,online,${AT},8.5,${AT},0.5,"Night, South",1,${AT},52.5,-13.4,in Berlin`,
  )
  expect(rest).toBe('')
})

test('a spreadsheet does not run a name that looks like a formula', () => {
  const device = newDevice('=1+1', position)
  rename(device, "'=cmd();@x")
  expect(devicesCsv([device], () => undefined)).toContain(`\r\n''=cmd();'@x,'=1+1,`)
})
