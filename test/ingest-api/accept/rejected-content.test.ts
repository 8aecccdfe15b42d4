import { isUtf8 } from 'node:buffer'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { rejectedContentOf } from '../../../ingest-api/accept/rejected-content.ts'
import { newApiKey } from '../../../schemas/access/api-key.ts'

/** The stored body of bytes that arrive in pieces of a size. */
function bodyOf(bytes: Uint8Array | string, size = 100_000): string {
  const all = Buffer.from(bytes)
  const chunks = []
  for (let start = 0; start < all.length; start += size) {
    chunks.push(all.subarray(start, start + size))
  }
  return rejectedContentOf({ chunks }).body ?? ''
}

const deviceIdOf = (deviceId: unknown) => rejectedContentOf({ json: { deviceId } }).deviceId

describe('bodies of rejections', () => {
  test('the stored body is the start of the report’s body, in pieces of any size', () => {
    expect(bodyOf('a'.repeat(2_048))).toBe('a'.repeat(2_048))
    expect(bodyOf('a'.repeat(2_049))).toBe('a'.repeat(2_048))
    for (const size of [1, 7, 2_047, 2_048, 2_049]) {
      expect(bodyOf('0123456789'.repeat(1_000), size)).toBe(
        '0123456789'.repeat(205).slice(0, 2_048),
      )
    }
  })

  test.each(['é', '€', '👩'])(
    'the stored body ends with a whole character before %s',
    (character) => {
      for (let before = 2_040; before <= 2_048; before += 1) {
        const start = 'a'.repeat(before)
        const fits = before + Buffer.byteLength(character) <= 2_048
        expect(bodyOf(`${start}${character}${'b'.repeat(20)}`)).toMatch(
          fits ? new RegExp(`^a{${before}}${character}b*$`) : new RegExp(`^a{${before}}$`),
        )
      }
    },
  )

  test('the stored body is text of at most 2 KiB, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.nat(4_000), (bytes, size) => {
        const body = bodyOf(bytes, size + 1)
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(2_048)
        expect(body.isWellFormed()).toBe(true)
        const whole = Buffer.from(bytes)
        expect(whole.toString().startsWith(body)).toBe(true)
        if (whole.length <= 2_048) {
          expect(body).toBe(isUtf8(whole) && !whole.includes(0) ? whole.toString() : '')
        }
      }),
    )
  })

  test('a body that is not UTF-8, or only looks like it, is not stored: no key could be found in it', () => {
    expect(bodyOf(Buffer.alloc(3_000, 0x80))).toBe('')
    expect(bodyOf(Buffer.from(`{"a":"é"}`, 'latin1'))).toBe('')
    expect(bodyOf(Buffer.from(`{"a":"${newApiKey()}"}`, 'utf16le'))).toBe('')
    expect(bodyOf(Buffer.concat([Buffer.from('x'.repeat(2_000)), Buffer.alloc(500, 0xff)]))).toBe(
      '',
    )
  })

  test('the stored body is the report’s own JSON if the report was sent with others', () => {
    expect(rejectedContentOf({ json: { deviceId: 'd', note: [1] } })).toEqual({
      deviceId: 'd',
      body: '{"deviceId":"d","note":[1]}',
    })
  })

  test('the stored body is the start of the report’s own JSON, or absent if that is nested too deeply', () => {
    let deep: unknown = []
    for (let depth = 1; depth < 500_000; depth += 1) {
      deep = [deep]
      if (depth !== 3_000 && depth !== 20_000 && depth !== 499_999) continue
      expect([{}, { body: '['.repeat(2_048) }]).toContainEqual(rejectedContentOf({ json: deep }))
    }
    expect(rejectedContentOf({ json: Array(3_000).fill(0) }).body).toHaveLength(2_048)
  })

  test('the stored body contains no API key and no part of one, wherever it is cut', () => {
    const key = newApiKey()
    for (let before = 1_980; before <= 2_060; before += 1) {
      const body = bodyOf(`${' '.repeat(before)}${key}" and ${'more '.repeat(100)}`)
      expect(body).toMatch(/^ +(gp?s?|gps_…?(".*)?)?$/)
    }
    expect(bodyOf(`${key}${key},x${key}y,gps_7,`)).toBe('gps_…gps_…,xgps_…y,gps_7,')
    // Its checksum can be computed.
    expect(bodyOf(`id=${key.slice(0, -6)}&lat=95`)).toBe('id=gps_…&lat=95')
    // The connection may have broken there.
    expect(bodyOf(`{"deviceId":"${key.slice(0, -1)}`)).toBe('{"deviceId":"gps_…')
    // Room left by masked keys is not filled with the start of another key.
    expect(bodyOf(`${key},`.repeat(200))).toMatch(/^(gps_…,)*(gps_…)?$/)
  })
})

test('a key written with JSON escapes is found wherever the body is cut', () => {
  const key = newApiKey()
  const hidden = [...key].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')
  for (let before = 1_700; before <= 2_060; before += 1) {
    const body = bodyOf(`${' '.repeat(before)}${hidden}" and ${'more '.repeat(100)}`)
    const plain = body.replace(/\\u00(..)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    expect(plain.replace(/\\(u.{0,3})?$/, '')).toMatch(/^ +(gp?s?|gps_…?(".*)?)?$/)
  }
  // Forms that people type, and forms into which pages turn an underscore.
  const rest = key.slice(4)
  for (const underscore of [
    '_ ',
    '_\n',
    '_\\n',
    '_%20',
    '&#95;',
    '&#x5f;',
    '&#x05F; ',
    '&lowbar;',
  ]) {
    expect(bodyOf(`{"note":"gps${underscore}${rest}"}`)).toBe('{"note":"gps_…"}')
    expect(bodyOf(`{"note":"gps${underscore}${rest.slice(0, 9)}`)).toBe('{"note":"gps_…')
  }
  // An escaped backslash starts no other escape; text that hides no key stays unchanged.
  expect(bodyOf(`"\\\\u0067ps_ \\u0041"`)).toBe(`"\\\\u0067ps_ \\u0041"`)
})

describe('device ids of rejections', () => {
  test('the stored deviceId is as it was sent, up to 128 UTF-16 code units', () => {
    for (const given of ['tracker-1', 'gps_', 'gps_7', ' a', 'a\u0000b', '<b>', '$ne', '']) {
      expect(deviceIdOf(given)).toBe(given)
    }
    expect(deviceIdOf('x'.repeat(128))).toBe('x'.repeat(128))
    expect(deviceIdOf('x'.repeat(129))).toBe('x'.repeat(128))
  })

  test('a deviceId is stored only if it is text', () => {
    for (const given of [undefined, null, 7, true, ['a'], { $ne: '' }]) {
      expect(deviceIdOf(given)).toBeUndefined()
    }
    for (const json of [undefined, null, 7, 'deviceId', ['deviceId']]) {
      expect(rejectedContentOf({ chunks: [], json })).toEqual({})
    }
  })

  test('the stored deviceId contains no API key and no half of a surrogate pair', () => {
    const key = newApiKey()
    expect(deviceIdOf(key)).toBe('gps_…')
    for (let before = 80; before <= 130; before += 1) {
      const deviceId = deviceIdOf(`${'x'.repeat(before)}${key}`) ?? ''
      expect(deviceId).toMatch(/^x+(gp?s?|gps_…?)?$/)
      expect(deviceId.length).toBeLessThanOrEqual(128)
    }
    expect(deviceIdOf(`${'x'.repeat(127)}👩`)).toBe(`${'x'.repeat(127)}\ufffd`)
    expect(deviceIdOf('\ud800')).toBe('\ufffd')
  })
})
