import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { handoffUrl, readHandoff } from '../../../../console/pages/connect/handoff.ts'

test('the content of a QR code arrives on the other device, in the fragment alone', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.constantFrom('curl', 'node'),
      (key, deviceId, name, sender) => {
        const url = new URL(handoffUrl('https://gps.example', { key, deviceId, name, sender }))
        expect(url.origin + url.pathname + url.search).toBe('https://gps.example/connect')
        expect(readHandoff(url.hash)).toEqual({ key, deviceId, name, sender })
      },
    ),
  )
})

test('an address without a key hands over nothing', () => {
  expect(readHandoff('')).toBeUndefined()
  expect(readHandoff('#content')).toBeUndefined()
  expect(readHandoff('#device=a%')).toBeUndefined()
})
