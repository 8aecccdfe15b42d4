import { expect, test } from '@jest/globals'
import { SignInThrottle } from '../../../admin-api/sign-in/sign-in-throttle.ts'
import { eventually } from '../../eventually.ts'

const wrong = async () => undefined
const right = async () => 'in'

test('a window that is over opens the way again', async () => {
  const throttle = new SignInThrottle({ failures: 2, windowSeconds: 1 })
  const who = { client: '192.0.2.1', email: 'a@example.org' }
  await throttle.attempt(who, wrong)
  await throttle.attempt(who, wrong)
  await expect(throttle.attempt(who, right)).rejects.toMatchObject({
    status: 429,
    headers: { 'Retry-After': '1' },
  })
  expect(await eventually(() => throttle.attempt(who, right))).toBe('in')
})

test('one e-mail is counted for each address by itself, whatever its case', async () => {
  const throttle = new SignInThrottle({ failures: 1 })
  await throttle.attempt({ client: '192.0.2.1', email: 'a@example.org' }, wrong)
  await expect(
    throttle.attempt({ client: '192.0.2.1', email: 'A@example.org' }, right),
  ).rejects.toMatchObject({ status: 429 })
  const elsewhere = { client: '192.0.2.2', email: 'a@example.org' }
  expect(await throttle.attempt(elsewhere, right)).toBe('in')
})

test('at most so many counters are remembered, the oldest go first', async () => {
  const throttle = new SignInThrottle({ failures: 1, remembered: 3 })
  const at = (host: number) => ({ client: `192.0.2.${host}`, email: 'a@example.org' })
  for (const host of [1, 2, 3, 4]) await throttle.attempt(at(host), wrong)
  expect(await throttle.attempt(at(1), right)).toBe('in')
  await expect(throttle.attempt(at(4), right)).rejects.toMatchObject({ status: 429 })
})

test('a check that fails for reasons of our own is no failed sign-in', async () => {
  const throttle = new SignInThrottle({ failures: 1 })
  const who = { client: '192.0.2.1', email: 'a@example.org' }
  const broken = async () => Promise.reject(new Error('broken'))
  await expect(throttle.attempt(who, broken)).rejects.toThrow('broken')
  expect(await throttle.attempt(who, right)).toBe('in')
})

test('attempts that never lead to a check push no failure out', async () => {
  const throttle = new SignInThrottle({ failures: 1, remembered: 3 })
  const who = { client: '192.0.2.1', email: 'a@example.org' }
  await throttle.attempt(who, wrong)
  for (let other = 0; other < 10; other += 1) {
    const email = `${other}@example.org`
    const full = async () => Promise.reject(new Error('too many are signing in'))
    await expect(throttle.attempt({ client: '192.0.2.9', email }, full)).rejects.toThrow('too many')
    await throttle.attempt({ client: '192.0.2.9', email }, right)
  }
  await expect(throttle.attempt(who, right)).rejects.toMatchObject({ status: 429 })
})
