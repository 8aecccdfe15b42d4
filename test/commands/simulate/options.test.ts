import { expect, test } from '@jest/globals'
import { UsageError } from '../../../runtime/process/command-line.ts'
import { parseOptions } from '../../../commands/simulate/options.ts'
import type { SenderKeys } from '../../../runtime/config/config.ts'

const KEY = 'gps_0123456789'
const parse = (line: string, keys: SenderKeys = { key: KEY }) =>
  parseOptions(line.split(' ').filter(Boolean), keys)

test('a key alone moves ten devices against the local service', () => {
  expect(parse(`--key ${KEY}`, {})).toEqual({
    url: new URL('http://localhost:8080'),
    key: KEY,
    giveUpMs: 60_000,
    source: {
      kind: 'moving',
      devices: 10,
      rate: 1,
      count: Infinity,
      prefix: 'simulated-',
      seed: 1,
      attributes: false,
    },
  })
})

test('the run ends at its duration or count, whichever comes first', () => {
  const count = (line: string) => parse(line) as { source: { count: number } }
  expect(count('--rate 2 --duration 30').source.count).toBe(60)
  expect(count('--rate 2 --duration 30 --count 7').source.count).toBe(7)
  expect(count('--rate 2 --duration 3 --count 7').source.count).toBe(6)
})

test("a GPX file's name is its device id, unless one is given", () => {
  expect(parse('--gpx a/first.gpx --gpx b/second.GPX --times original')).toMatchObject({
    source: {
      kind: 'gpx',
      times: 'original',
      tracks: [
        { file: 'a/first.gpx', deviceId: 'first' },
        { file: 'b/second.GPX', deviceId: 'second' },
      ],
    },
  })
  expect(parse('--gpx a.gpx --device car --speedup 60')).toMatchObject({
    source: { times: 'now', speedup: 60, tracks: [{ file: 'a.gpx', deviceId: 'car' }] },
  })
})

test('records are read with the read key, or with the same key', () => {
  expect(parse('--verify')).toMatchObject({
    verify: { adminUrl: new URL('http://localhost:8081'), readKey: KEY },
  })
  expect(parse('--verify --read-key other --admin-url https://gps.example/admin')).toMatchObject({
    verify: { adminUrl: new URL('https://gps.example/admin'), readKey: 'other' },
  })
  expect(parse('--verify', { key: KEY, readKey: 'other' })).toMatchObject({
    key: KEY,
    verify: { readKey: 'other' },
  })
})

test('help for the simulation is printed despite invalid arguments', () => {
  expect(parse('--help --devices none', {})).toBe('help')
})

test.each([
  ['--devices 0', '--devices must be a whole number from 1 to 100000, not "0"'],
  ['--devices 1.5', '--devices must be a whole number'],
  ['--rate fast', '--rate must be a number from 0.001 to 1000, not "fast"'],
  ['--duration 0', '--duration must be a number'],
  ['--url localhost:8080', '--url must be an http:// or https:// URL such as'],
  ['--times yesterday --gpx a.gpx', '--times must be original or now, not "yesterday"'],
  ['--gpx a.gpx --devices 5', '--devices cannot be combined with --gpx'],
  ['--speedup 2', '--speedup requires --gpx FILE'],
  ['--read-key x', '--read-key requires --verify'],
  ['--gpx a.gpx --gpx b.gpx --device x', '--device may appear only once for each --gpx FILE'],
  ['--gpx a/t.gpx --gpx b/t.gpx', '--device must differ from file to file: "t" comes twice'],
  ['--device', "'--device <value>' argument missing"],
  ['--speed 5', "Unknown option '--speed'"],
  ['extra', "Unexpected argument 'extra'"],
])('%s is rejected with a suggestion', (line, message) => {
  expect(() => parse(line)).toThrow(UsageError)
  expect(() => parse(line)).toThrow(message)
})

test('without a key the message says where to put one', () => {
  expect(() => parse('', {})).toThrow('--key must be an API key, or set GPS_KEY')
})

test('a key in the wrong argument is not printed', () => {
  expect.assertions(1)
  try {
    parse(KEY)
  } catch (error) {
    expect(String(error)).not.toContain(KEY)
  }
})
