import { expect, test } from '@jest/globals'
import { hashPassword, NOBODYS_HASH, verifyPassword } from '../../../admin-api/sign-in/password.ts'

test('only the correct password is accepted', async () => {
  const hash = await hashPassword('correct horse')
  expect(await verifyPassword('correct horse', hash)).toBe(true)
  for (const other of ['correct horse ', 'Correct horse', '', 'correct hors']) {
    expect(await verifyPassword(other, hash)).toBe(false)
  }
})

test('the same password gets a different hash each time, with its cost', async () => {
  const [one, other] = await Promise.all([hashPassword('same'), hashPassword('same')])
  expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(one).not.toBe(other)
})

test('a password is the same however its characters were composed', async () => {
  expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true)
})

test('a hash of another cost is checked at that cost', async () => {
  // scrypt('password', 'salt', N=1024, r=8, p=1), 16 bytes.
  const { scryptSync } = await import('node:crypto')
  const key = scryptSync('password', 'salt', 16, { N: 1024, r: 8, p: 1 }).toString('base64')
  const hash = `$scrypt$ln=10,r=8,p=1$c2FsdA$${key.replace(/=+$/, '')}`
  expect(await verifyPassword('password', hash)).toBe(true)
  expect(await verifyPassword('passwort', hash)).toBe(false)
})

test('no password is right for an unknown operator, and the check costs as much', async () => {
  expect(await verifyPassword('', NOBODYS_HASH)).toBe(false)
  expect(NOBODYS_HASH).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
})

test('a text that is not a hash is an error, not a wrong password', async () => {
  for (const stored of ['', 'plain', '$scrypt$ln=99999,r=8,p=1$c2FsdA$c2FsdA']) {
    await expect(verifyPassword('plain', stored)).rejects.toThrow('unknown form')
  }
})
