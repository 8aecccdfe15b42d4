import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { UnreadableError } from '../../../../schemas/formats/histories/format.ts'
import { fitData, fitFile, fitMessage, fitTime, semicircles, type MadeField } from './made-fit.ts'
import { asReports, readHistory } from './read-history.ts'
import { readDamaged } from './read-damaged.ts'

const [RECORD, FILE_ID, EVENT] = [20, 0, 21]
const T = '2024-05-01T08:00:00.000Z'
const FIELDS: readonly MadeField[] = [
  [253, 'uint32', fitTime(T)],
  [0, 'sint32', semicircles(48.2)],
  [1, 'sint32', semicircles(-16.3)],
  [78, 'uint32', (180.4 + 500) * 5],
  [2, 'uint16', 0xffff],
  [6, 'uint16', 9_999],
  [73, 'uint32', 2_512],
  [3, 'uint8', 92],
  [4, 'uint8', 0xff],
  [13, 'sint8', -4],
  [31, 'uint8', 5],
  [5, 'uint32', 12_345],
  [7, 'uint16', 210],
]
const POINT = {
  deviceId: 'given',
  latitude: (semicircles(48.2) * 180) / 2 ** 31,
  longitude: (semicircles(-16.3) * 180) / 2 ** 31,
  timestamp: T,
  altitude: 180.4,
  speed: 2.512,
  accuracy: 5,
  attributes: { distance: 123.45, heart_rate: 92, power: 210, temperature: -4 },
}
const withTime = (seconds: number) =>
  FIELDS.map((one) => (one[0] === 253 ? ([253, 'uint32', fitTime(T) + seconds] as const) : one))
const reports = async (...pieces: readonly Buffer[]) =>
  asReports((await readHistory(...pieces)).found)

test.each([true, false])(
  'a record has its coordinates, time, measurements and sensors, big-endian: %s',
  async (isBig) => {
    const file = fitFile([
      fitMessage(FILE_ID, [[0, 'enum', 4]]),
      fitMessage(RECORD, FIELDS, { isBig }),
    ])
    expect(await reports(file)).toEqual([POINT])
    expect((await readHistory(gzipSync(file))).format).toBe('fit')
  },
)

test('a 12-byte header, as from older devices, is read', async () => {
  const messages = fitMessage(RECORD, FIELDS)
  for (const version of [0x10, 0x20]) {
    const header = Buffer.from(fitFile([messages]).subarray(0, 12))
    header[0] = 12
    header[1] = version
    // The other header's checksum does not match.
    const { items } = await readDamaged(Buffer.concat([header, messages, Buffer.alloc(2)]))
    expect(asReports(items)).toEqual([POINT])
  }
})

test('a record without coordinates is skipped, and points of a course are planned', async () => {
  const indoors = FIELDS.filter(([number]) => number > 1)
  const unknown = FIELDS.map((one) => (one[0] === 0 ? ([0, 'sint32', 0x7fffffff] as const) : one))
  expect(
    await reports(fitFile([fitMessage(RECORD, indoors), fitMessage(RECORD, unknown)])),
  ).toEqual(['records without a position', 'records without a position'])
  const course = [fitMessage(FILE_ID, [[0, 'enum', 6]]), fitMessage(RECORD, FIELDS)]
  expect(await reports(fitFile(course))).toEqual(['points of courses'])
})

test('times in message headers, developer fields and concatenated files are read', async () => {
  const place: readonly MadeField[] = [
    [0, 'sint32', semicircles(1)],
    [1, 'sint32', semicircles(2)],
  ]
  // 20 s after a time whose last five bits are 16, so they wrap around.
  const seconds = fitTime(T)
  const later = (seconds + 20) % 32
  const messages = [
    fitMessage(EVENT, [[253, 'uint32', seconds]]),
    fitMessage(RECORD, place),
    fitData(place, { header: 0x80 | later }),
  ]
  const developers = fitMessage(RECORD, place)
  const withDevelopers = Buffer.concat([
    Buffer.from([0x60]),
    developers.subarray(1, 12),
    Buffer.from([1, 0, 3, 0]),
    developers.subarray(12),
    Buffer.from([7, 7, 7]),
  ])
  const found = await reports(
    fitFile(messages),
    fitFile([withDevelopers, fitMessage(RECORD, FIELDS)]),
  )
  expect(found).toEqual([
    expect.stringContaining('timestamp is required'),
    expect.objectContaining({ timestamp: '2024-05-01T08:00:20.000Z' }),
    expect.stringContaining('timestamp is required'),
    POINT,
  ])
})

test('a file with many records is read in chunks', async () => {
  const record = fitData(FIELDS)
  const start = fitMessage(RECORD, FIELDS)
  const count = 3_000
  const file = fitFile([start, ...Array.from({ length: count }, () => record)])
  const pieces = Array.from({ length: Math.ceil(file.length / 1000) }, (_, n) =>
    file.subarray(n * 1000, n * 1000 + 1000),
  )
  expect(await reports(...pieces)).toHaveLength(count + 1)
})

const WHOLE = fitFile([
  fitMessage(FILE_ID, [[0, 'enum', 4]]),
  fitMessage(RECORD, withTime(0)),
  ...Array.from({ length: 20 }, (_, n) => fitData(withTime(n + 1))),
])
const DATA = fitData(FIELDS).length
const FIRST = WHOLE.length - 2 - 21 * DATA

test('a file that is cut anywhere or has any byte damaged yields the preceding points and names its damage', async () => {
  const whole = (await readDamaged(WHOLE)).items
  expect(whole).toHaveLength(21)
  await fc.assert(
    fc.asyncProperty(
      fc.nat(WHOLE.length - 1),
      fc.option(fc.integer({ min: 1, max: 255 }), { nil: undefined }),
      async (at, change) => {
        const damaged = change === undefined ? WHOLE.subarray(0, at) : Buffer.from(WHOLE)
        if (change !== undefined) damaged[at] = damaged[at]! ^ change
        const { items, error } = await readDamaged(damaged)
        expect(error).toBeInstanceOf(UnreadableError)
        const before = Math.max(0, Math.floor((at - FIRST) / DATA))
        if (at < FIRST && items.length === 0) return
        expect(items.slice(0, before)).toEqual(whole.slice(0, before))
        if (change === undefined) expect(items).toEqual(whole.slice(0, items.length))
      },
    ),
    { numRuns: 400 },
  )
})

test.each([
  [
    'is cut',
    WHOLE.subarray(0, -40),
    'it is damaged: the rest is missing; read before: 19 elements',
  ],
  ['lacks its checksum', WHOLE.subarray(0, -2), 'the rest is missing; read before: 21 elements'],
  [
    'has another byte',
    Buffer.from(WHOLE).fill(7, FIRST + 3, FIRST + 4),
    'its checksum does not fit',
  ],
  [
    'is followed by something else',
    Buffer.concat([WHOLE, Buffer.alloc(20, 1)]),
    'bytes that are not FIT follow',
  ],
  [
    'has an unknown message',
    fitFile([fitMessage(RECORD, FIELDS), Buffer.from([0x03])]),
    'has an unknown type',
  ],
  [
    'has a length that cuts a message',
    fitFile([fitMessage(RECORD, FIELDS)], { length: 60 }),
    'longer than the file',
  ],
  [
    'was not ended',
    fitFile([fitMessage(RECORD, FIELDS)], { length: 0 }),
    'its recording is incomplete',
  ],
])('a file that %s is reported as such, after its points', async (_what, bytes, message) => {
  const { items, error } = await readDamaged(bytes)
  expect(String(error)).toContain(message)
  expect(items.length > 0).toBe(!message.includes('longer'))
})
