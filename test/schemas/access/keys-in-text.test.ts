import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { judgeAttributes } from '../../../schemas/report/attributes.ts'
import { deviceIdFault } from '../../../schemas/devices/device-id.ts'
import { containsApiKey, maskApiKeys } from '../../../schemas/access/keys-in-text.ts'
import {
  decodePositionReported,
  encodePositionReported,
} from '../../../schemas/events/position-reported.ts'
import { parseByRules, parsePositionReport } from '../../../schemas/report/position-report.ts'
import { positionReported, T0 } from '../../samples.ts'
import { HIDDEN } from '../hidden-keys.ts'

describe.each(HIDDEN)('an API key %s', (_how, hide) => {
  const key = newApiKey()
  const hidden = hide(key)

  test('is found and masked', () => {
    expect(containsApiKey(hidden)).toBe(true)
    // Its checksum is wrong.
    expect(containsApiKey(hide(`gps_${'a'.repeat(38)}`))).toBe(false)
    for (const cut of [true, false]) {
      const masked = maskApiKeys(`before ${hidden} after`, { cut })
      expect(masked).toMatch(/^before .*gps_….* after$/)
      expect(masked).not.toContain(key.slice(4, 20))
      expect(containsApiKey(masked)).toBe(false)
    }
  })

  test('is rejected as the value of an attribute, and as a device', () => {
    const report = { deviceId: 'tug', latitude: 1, longitude: 2, attributes: { note: hidden } }
    for (const parse of [parsePositionReport, parseByRules]) {
      expect(parse(report, { now: T0 })).toMatchObject({ faults: [{ field: 'attributes.note' }] })
    }
    // Its rules allow only 128 characters.
    const fault = hidden.length > 128 ? '1 to 128 characters' : 'API key'
    expect(deviceIdFault(hidden)).toContain(fault)
  })

  test('that an earlier version has accepted stays readable in the log', () => {
    const event = positionReported({ attributes: { note: hidden } })
    expect(decodePositionReported(encodePositionReported(event))).toEqual(event)
  })
})

test('a name of an attribute may not contain an API key, not even in Base64', () => {
  const key = newApiKey()
  for (const name of [key, `a.${key}`, Buffer.from(key).toString('base64url')]) {
    expect(judgeAttributes({ [name]: 1 })).toHaveProperty('faults')
  }
})

test('a key is found and masked with any of its characters escaped and any text around it', () => {
  const escapes = [
    (_hex: string, plain: string) => plain,
    (hex: string) => `%${hex}`,
    (hex: string) => `%2525${hex}`,
    (hex: string) => `\\u00${hex}`,
    (hex: string) => `&#x${hex};`,
  ]
  const around = fc.string({ unit: fc.constantFrom(...' ,;:=é"()[]{}€🚚'), maxLength: 20 })
  const chosen = fc.array(fc.nat(escapes.length - 1), { minLength: 42, maxLength: 42 })
  fc.assert(
    fc.property(around, around, chosen, (before, after, choices) => {
      const key = newApiKey()
      const hidden = [...key]
        .map((plain, at) => escapes[choices[at]!]!(plain.charCodeAt(0).toString(16), plain))
        .join('')
      expect(containsApiKey(before + hidden + after)).toBe(true)
      for (const cut of [true, false]) {
        expect(maskApiKeys(before + hidden + after, { cut })).toBe(`${before}gps_…${after}`)
      }
    }),
    { numRuns: 300 },
  )
})

test('a text without a key stays as it is, escapes and all', () => {
  const unit = fc.constantFrom(...'gps_%5Fu00&#95;\\x lowbar+aZ/é🚚')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
      expect(containsApiKey(text)).toBe(false)
      expect(maskApiKeys(text, { cut: false })).toBe(text)
    }),
  )
})

test('wherever a text was cut, no start of a key remains in Base64 either', () => {
  const key = newApiKey()
  for (const secret of [`phone:${key}`, `me:${key}`, key]) {
    const text = `Authorization: Basic ${btoa(secret)}`
    for (let end = text.length - 40; end <= text.length; end += 1) {
      const masked = maskApiKeys(text.slice(0, end), { cut: true })
      expect(masked).toBe('Authorization: Basic gps_…')
    }
  }
})
