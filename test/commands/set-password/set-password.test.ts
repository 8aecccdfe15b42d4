import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { newPassword } from '../../../commands/set-password/set-password.ts'

const piped = (...chunks: (string | Uint8Array)[]) =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)))

test('the password is read from standard input, without the final newline', async () => {
  const read = async (text: string) => (await newPassword(piped(text))).password
  expect(await read('a new password, long\n')).toBe('a new password, long')
  expect(await read('a new password, long\r\n')).toBe('a new password, long')
  expect(await read('  two lines \n and spaces \n\n')).toBe('  two lines \n and spaces \n')
  const [first, second] = [Buffer.from('пароль').subarray(0, 5), Buffer.from('пароль').subarray(5)]
  const halves = await newPassword(piped(first, second, ' из букв'))
  expect(halves).toEqual({ password: 'пароль из букв', isGenerated: false })
})

test('a password that the back office would reject is rejected here', async () => {
  for (const text of ['', 'elevenchars', '😀😀😀😀😀😀', 'x'.repeat(1025)]) {
    await expect(newPassword(piped(text))).rejects.toThrow('12 to 1024 characters')
  }
  const latin1 = Buffer.from('Schlüsselwörter', 'latin1')
  await expect(newPassword(piped(latin1))).rejects.toThrow(
    'the password on standard input must be UTF-8',
  )
})

test('on a terminal, a new password is generated each time', async () => {
  const terminal = Object.assign(piped(), { isTTY: true })
  const made = [await newPassword(terminal), await newPassword(terminal)]
  for (const one of made) {
    expect(one.isGenerated).toBe(true)
    expect(one.password).toMatch(/^[0-9A-Za-z]{24}$/)
  }
  expect(made[0]?.password).not.toBe(made[1]?.password)
})
