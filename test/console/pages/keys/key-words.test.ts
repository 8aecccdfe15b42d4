import { describe, expect, test } from '@jest/globals'
import { ApiFailure } from '../../../../console/core/failure.ts'
import { readLimits, scopeWords } from '../../../../console/pages/keys/key-words.ts'

describe('the limits of a key as a form gives them', () => {
  test('empty fields of a key set no limit', () => {
    expect(readLimits({ name: ' Van ' }, 'UTC')).toEqual({
      name: 'Van',
      expiresAt: null,
      deviceIds: null,
      rateLimit: null,
    })
  })

  test('an expiry is in the chosen zone', () => {
    const values = { name: 'Van', expiresAt: '2027-07-01T12:00' }
    expect(readLimits(values, 'Europe/Vienna').expiresAt).toBe('2027-07-01T10:00:00.000Z')
  })

  test('the devices of a key are entered as lines, each once', () => {
    const values = { name: 'Van', deviceIds: 'van-1\r\n\n van-2 \nvan-1' }
    expect(readLimits(values, 'UTC').deviceIds).toEqual(['van-1', 'van-2'])
  })

  test.each([
    ['rateLimit', 'many'],
    ['rateLimit', '1e999'],
    ['expiresAt', 'tomorrow'],
  ])('a nonsensical %s is reported at its field, and does not remove the limit', (field, text) => {
    expect.assertions(2)
    try {
      readLimits({ name: 'Van', [field]: text }, 'UTC')
    } catch (failure) {
      expect(failure).toBeInstanceOf(ApiFailure)
      expect((failure as ApiFailure).details.map((one) => one.field)).toEqual([field])
    }
  })
})

test('scopes of a key are listed in one order', () => {
  expect(scopeWords(['devices:read', 'positions:write'])).toBe('Send reports, read devices')
})
