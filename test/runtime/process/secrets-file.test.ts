import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readOrCreateSecretsKey } from '../../../runtime/process/sealed-secrets.ts'
import { ownDirectory } from '../../own-directory.ts'

test('the key is created once, readable only by this user', async () => {
  const directory = await ownDirectory()
  const key = readOrCreateSecretsKey(directory)
  expect(key).toHaveLength(32)
  expect(readOrCreateSecretsKey(directory)).toEqual(key)
  const file = join(directory, 'secrets.key')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toEqual(Buffer.from(key))
})

test('a damaged key is not replaced: a new key would open none of the secrets', async () => {
  const directory = await ownDirectory()
  const file = join(directory, 'secrets.key')
  writeFileSync(file, 'x')
  expect(() => readOrCreateSecretsKey(directory)).toThrow(
    `${file} is damaged: put it back from a backup, or remove it and all notifications`,
  )
  expect(readFileSync(file, 'utf8')).toBe('x')
})
