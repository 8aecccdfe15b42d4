import fc from 'fast-check'
import { T0 } from '../../samples.ts'

/** Values that an app could send by mistake, and values that no app would send. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    -0,
    1e308,
    Infinity,
    95,
    -181,
    'NaN',
    '12,5',
    '0x10',
    '5e3',
    true,
  ),
  fc.constantFrom<unknown>(
    'x'.repeat(200),
    '\ud800',
    '..',
    '__proto__',
    [[]],
    {},
    'gps_1',
    '\u0000',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const number = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: -200, max: 200, noNaN: true }) },
  { weight: 2, arbitrary: fc.integer({ min: -90, max: 90 }).map(String) },
  { weight: 1, arbitrary: odd },
)
const time = fc.oneof(
  fc.integer({ min: T0 / 1000 - 1e6, max: T0 / 1000 }),
  fc.constantFrom<unknown>(
    0,
    T0,
    '2026-01-01T00:00:00Z',
    '2025-12-31 09:10:11',
    '2025-12-31T10:00:00 02:00',
  ),
  odd,
)
const device = fc.oneof(
  fc.constantFrom<unknown>('van', 'jane/phone', '車-7', 7, 2 ** 53, '', ' a '),
  odd,
)
const NUMBERS =
  'lat lon latitude longitude acc alt vel cog batt altitude speed bearing heading accuracy battery_level course level bat'
const TIMES = 'tst timestamp time fixTime received_at'
const DEVICES = 'id deviceid device_id unique_id uniqueId topic tid dev_eui devEui'
const TYPES = fc.constantFrom<unknown>(
  'location',
  'lwt',
  'transition',
  'encrypted',
  'card',
  undefined,
  5,
)

const named = (names: string, arbitrary: fc.Arbitrary<unknown>) =>
  Object.fromEntries(names.split(' ').map((name) => [name, arbitrary]))
const flat = fc.record(
  {
    ...named(NUMBERS, number),
    ...named(TIMES, time),
    ...named(DEVICES, device),
    _type: TYPES,
    location: odd,
    speedUnit: fc.constantFrom<unknown>('kmh', 'mps', 'x'),
  },
  { requiredKeys: [] },
)
const feature = fc.record(
  {
    geometry: fc.oneof(
      { weight: 4, arbitrary: fc.record({ coordinates: fc.array(number, { maxLength: 3 }) }) },
      { weight: 1, arbitrary: odd },
    ),
    properties: fc.oneof({ weight: 4, arbitrary: flat }, { weight: 1, arbitrary: odd }),
  },
  { requiredKeys: [] },
)
/** The marks of trackers without a fix, and lists of measurements. */
const marks = fc.record(
  {
    ...named(
      'fixFailed gpsStatus fix valid outdated',
      fc.constantFrom<unknown>(true, false, '0', 1),
    ),
    ...named('sat sats satellites hours', fc.constantFrom<unknown>(0, '0', 7, -1, 'x')),
    cached: fc.oneof(flat, odd),
    attributes: fc.oneof(flat, odd),
    messages: fc.oneof(
      odd,
      fc.array(
        fc.array(
          fc.record({
            measurementId: fc.constantFrom<unknown>('4197', '4198', 4198, '3000', '4097', null),
            measurementValue: number,
            type: odd,
            timestamp: time,
          }),
        ),
      ),
    ),
  },
  { requiredKeys: [] },
)
/** The locations of apps' fields. */
const nested = fc.record(
  Object.fromEntries(
    'location coords battery position device end_device_ids uplink_message decoded_payload deviceInfo object location_solved'
      .split(' ')
      .map((name) => [
        name,
        fc.oneof(
          flat,
          fc.tuple(flat, marks).map(([a, b]) => ({ ...a, ...b })),
          fc.record({ coords: flat, battery: flat }),
          odd,
        ),
      ]),
  ),
  { requiredKeys: [] },
)
const json = fc.oneof(
  { weight: 3, arbitrary: flat },
  { weight: 2, arbitrary: fc.tuple(flat, nested).map(([a, b]) => ({ ...a, ...b })) },
  {
    weight: 2,
    arbitrary: fc.record({
      locations: fc.oneof(fc.array(fc.oneof(feature, odd), { maxLength: 10 }), odd),
      current: fc.oneof(feature, odd),
    }),
  },
  { weight: 1, arbitrary: fc.record({ points: fc.array(fc.oneof(fc.array(number), odd)) }) },
  { weight: 1, arbitrary: odd },
)

/** Values as in a query or a form, occasionally damaged. */
export const anyQuery = fc
  .tuple(
    flat,
    fc.option(fc.constantFrom('%', '&', '=', '%ff', '%zz', '+', '&&=&', '?'), { freq: 4 }),
  )
  .map(([fields, damage]) => {
    const text = Object.entries(fields)
      .filter(([, value]) => ['string', 'number'].includes(typeof value))
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`)
      .join('&')
    return damage === null ? text : text + damage
  })

/** A form as `multipart/form-data; boundary=x`, with a photo. */
const multipart = flat.map((fields) => {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `; name="${name}"\r\n\r\n${typeof value === 'string' ? value : fc.stringify(value)}`,
  )
  return [...parts, '; name="image"; filename="a"\r\n\r\n\u0000']
    .map((part) => `--x\r\nContent-Disposition: form-data${part}\r\n`)
    .concat('--x--')
    .join('')
})

const written = fc.oneof(
  { weight: 6, arbitrary: json.map((value) => JSON.stringify(value) ?? '') },
  { weight: 3, arbitrary: anyQuery },
  { weight: 1, arbitrary: multipart },
  { weight: 1, arbitrary: json.map((value) => `\ufeff${JSON.stringify(value) ?? ''}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '""', '{', '['.repeat(15_000), '{"locations":[[[[', '{"a":1}x'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)

export const anyBody: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: written.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 2,
    arbitrary: fc.tuple(written, fc.nat(), fc.nat(7)).map(([text, place, bit]) => {
      const bytes = Buffer.from(text)
      if (bytes.length > 0) bytes[place % bytes.length]! ^= 1 << bit
      return bytes
    }),
  },
)

/** The app's part of PhoneTrack's URLs. */
export const PHONETRACK_LOGGERS =
  'osmand gpslogger owntracks ulogger traccar opengts overland multiple get x constructor'.split(
    ' ',
  )

export const anyMediaType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
  'text/plain',
  'x',
)

export const anyHeaders = fc.record(
  {
    'content-type': anyMediaType,
    'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'zstd'),
    'x-limit-u': fc.constantFrom('jane', ' ', 'x'.repeat(300), '/'),
    'x-limit-d': fc.constantFrom('phone', '..'),
    'x-request-id': fc.constantFrom('a', 'x'.repeat(100)),
    'idempotency-key': fc.constantFrom('a', ' '),
    'user-agent': fc.constantFrom('Overland/1.3', ''),
  },
  { requiredKeys: [] },
)
