import { describe, expect, test } from '@jest/globals'
import { isApiKey, keyHint, newApiKey, secretHash } from '../../../schemas/access/api-key.ts'

describe('API keys', () => {
  test('an API key is gps_, 32 random characters and a check of 6 characters', () => {
    const keys = Array.from({ length: 100 }, newApiKey)
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) {
      expect(key).toMatch(/^gps_[0-9A-Za-z]{38}$/)
      expect(isApiKey(key)).toBe(true)
    }
  })

  test('an API key ends with a check that is CRC-32 in base62', () => {
    expect(isApiKey(`gps_${'0'.repeat(32)}47Clgv`)).toBe(true)
  })

  test('an API key is invalid once any character has changed', () => {
    const key = newApiKey()
    for (let place = 4; place < key.length; place += 1) {
      const other = key[place] === 'a' ? 'b' : 'a'
      expect(isApiKey(key.slice(0, place) + other + key.slice(place + 1))).toBe(false)
    }
    expect(isApiKey(`${key} `)).toBe(false)
    expect(isApiKey(key.toUpperCase())).toBe(false)
    expect(isApiKey('')).toBe(false)
  })

  test('an API key is stored as a SHA-256 hash and shown as a hint', () => {
    const key = newApiKey()
    expect(secretHash(key)).toHaveLength(32)
    expect(keyHint(key)).toBe(`${key.slice(0, 8)}…${key.slice(-4)}`)
  })
})
