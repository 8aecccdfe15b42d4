import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { UsageError } from '../../../runtime/process/command-line.ts'
import { parseOptions } from '../../../commands/import/options.ts'
import { ownDirectory } from '../../own-directory.ts'
import type { SenderKeys } from '../../../runtime/config/config.ts'

const FILE = join('test', 'fixtures', 'histories', 'records.json')
const parse = (line: string, keys: SenderKeys = { key: 'key' }) =>
  parseOptions(line.split(' ').filter(Boolean), keys)

describe('the arguments of the import', () => {
  test('files, with the key from the environment, are enough', () => {
    expect(parse(`${FILE} -`)).toMatchObject({
      files: [FILE, '-'],
      target: { url: new URL('http://localhost:8080'), key: 'key' },
    })
  })

  test('a dry run needs no key', () => {
    expect(parse(`--dry-run ${FILE}`, {})).not.toHaveProperty('target')
  })

  test('a day means its first moment', () => {
    const day = Date.UTC(2024, 0, 31)
    expect(parse(`--from 2024-01-31 --to 2024-01-31T12:00:00Z -`)).toMatchObject({
      from: day,
      to: day + 12 * 3_600_000,
    })
  })

  test.each([
    ['', 'name the files'],
    ['nowhere.gpx', 'FILE must be a file'],
    ['--format shp -', '--format must be one of gpx'],
    ['--from yesterday -', '--from must be a time'],
    ['--device . -', '--device must not be'],
    [
      `--devices ${FILE} -`,
      "--devices must be the response of Traccar's /api/devices, a JSON list of objects with id and uniqueId",
    ],
    ['--devices nowhere.json -', '--devices must be a JSON file'],
    ['--url nowhere -', '--url must be'],
  ])('%j is rejected with a suggestion', (line, message) => {
    expect(() => parse(line)).toThrow(UsageError)
    expect(() => parse(line)).toThrow(message)
  })

  test("the list of Traccar's devices may be in UTF-16, as PowerShell writes it", async () => {
    const file = join(await ownDirectory(), 'devices.json')
    writeFileSync(file, Buffer.from('\ufeff[{"id":7,"uniqueId":"vän"}]', 'utf16le'))
    expect(parse(`--devices ${file} -`)).toMatchObject({ deviceIds: new Map([['7', 'vän']]) })
  })

  test('without a key the message says where to put one', () => {
    expect(() => parse('-', {})).toThrow('GPS_KEY')
  })
})
