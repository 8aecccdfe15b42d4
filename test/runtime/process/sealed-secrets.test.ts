import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { sealedSecrets } from '../../../runtime/process/sealed-secrets.ts'

const secrets = sealedSecrets(randomBytes(32))

test('a sealed secret opens only in its context, and each sealing differs', () => {
  const sealed = secrets.seal('größe 🚐', 'a')
  expect(secrets.open(sealed, 'a')).toBe('größe 🚐')
  expect(secrets.seal('größe 🚐', 'a')).not.toBe(sealed)
  expect(Buffer.from(sealed.slice(3), 'base64url').toString()).not.toContain('gr')
})

test('a secret does not open with another key, in another context, or altered', () => {
  const sealed = secrets.seal('hush', 'a')
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  const altered = [...bytes.keys()].map((place) => {
    const copy = Buffer.from(bytes)
    copy[place]! ^= 1
    return `v1.${copy.toString('base64url')}`
  })
  const others = [...altered, 'v1.', 'v2.x', '', sealed.slice(0, -8), sealed.slice(0, 20)]
  for (const other of others) expect(() => secrets.open(other, 'a')).toThrow(/SECRETS_KEY/)
  expect(() => secrets.open(sealed, 'b')).toThrow(/SECRETS_KEY/)
  expect(() => sealedSecrets(randomBytes(32)).open(sealed, 'a')).toThrow(/SECRETS_KEY/)
})
