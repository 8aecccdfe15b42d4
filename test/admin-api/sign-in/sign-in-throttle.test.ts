import { describe, expect, jest, test } from '@jest/globals'
import { setImmediate } from 'node:timers/promises'
import { SignInThrottle } from '../../../admin-api/sign-in/sign-in-throttle.ts'
import { fakeTimers } from '../../fake-timers.ts'

const wrong = async () => undefined
const right = async (maySucceed: boolean) => (maySucceed ? 'in' : undefined)

test('signing in works again after the window has ended', async () => {
  fakeTimers('performance', 'setTimeout', 'clearTimeout')
  const throttle = new SignInThrottle({ failures: 2, seconds: 1 })
  const who = { client: '192.0.2.1', email: 'a@example.org', isKnown: true }
  await throttle.attempt(who, wrong)
  await throttle.attempt(who, wrong)
  await expect(throttle.attempt(who, right)).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('too many failed sign-ins') as unknown,
    headers: { 'Retry-After': '1' },
  })
  jest.advanceTimersByTime(1_000)
  expect(await throttle.attempt(who, right)).toBe('in')
  jest.useRealTimers()
})

test('sign-ins are counted by e-mail and address, ignoring case', async () => {
  const throttle = new SignInThrottle({ failures: 1 })
  await throttle.attempt({ client: '192.0.2.1', email: 'a@example.org', isKnown: true }, wrong)
  await expect(
    throttle.attempt({ client: '192.0.2.1', email: 'A@example.org', isKnown: true }, right),
  ).rejects.toMatchObject({ status: 429 })
  const elsewhere = { client: '192.0.2.2', email: 'a@example.org', isKnown: true }
  expect(await throttle.attempt(elsewhere, right)).toBe('in')
})

test('the number of counters is limited; the oldest are dropped first', async () => {
  const throttle = new SignInThrottle({ failures: 1, remembered: 3 })
  const at = (host: number) => ({
    client: `192.0.2.${host}`,
    email: 'a@example.org',
    isKnown: true,
  })
  for (const host of [1, 2, 3, 4]) await throttle.attempt(at(host), wrong)
  expect(await throttle.attempt(at(1), right)).toBe('in')
  await expect(throttle.attempt(at(4), right)).rejects.toMatchObject({ status: 429 })
})

test('a check that fails because of an internal error does not count as a failed sign-in', async () => {
  const throttle = new SignInThrottle({ failures: 1 })
  const who = { client: '192.0.2.1', email: 'a@example.org', isKnown: true }
  const broken = async () => Promise.reject(new Error('broken'))
  await expect(throttle.attempt(who, broken)).rejects.toThrow('broken')
  expect(await throttle.attempt(who, right)).toBe('in')
})

test('attempts without a password check displace no counted failure', async () => {
  const throttle = new SignInThrottle({ failures: 1, remembered: 3 })
  const who = { client: '192.0.2.1', email: 'a@example.org', isKnown: true }
  await throttle.attempt(who, wrong)
  for (let other = 0; other < 10; other += 1) {
    const email = `${other}@example.org`
    const full = async () => Promise.reject(new Error('too many are signing in'))
    await expect(
      throttle.attempt({ client: '192.0.2.9', email, isKnown: false }, full),
    ).rejects.toThrow('too many')
    await throttle.attempt({ client: '192.0.2.9', email, isKnown: true }, right)
  }
  await expect(throttle.attempt(who, right)).rejects.toMatchObject({ status: 429 })
})

describe('addresses that have failed too often', () => {
  const at = (email: string, isKnown = false) => ({ client: '192.0.2.1', email, isKnown })
  const tooMany = { status: 429, headers: { 'Retry-After': expect.any(String) } }

  async function failed(isKnown: boolean, answersAfterMs = 100) {
    const throttle = new SignInThrottle({ failuresOfClient: 3, answersAfterMs })
    for (let n = 0; n < 3; n += 1) {
      expect(await throttle.attempt(at(`${n}@example.org`, isKnown), wrong)).toBeUndefined()
    }
    return throttle
  }

  test('an address that has failed too often only signs in with the correct password, and learns nothing else', async () => {
    const throttle = await failed(false)
    for (const isKnown of [false, true]) {
      await expect(throttle.attempt(at('a@example.org', isKnown), wrong)).rejects.toMatchObject(
        tooMany,
      )
    }
    expect(await throttle.attempt(at('a@example.org', true), right)).toBe('in')
    const other = { client: '192.0.2.2', email: 'x@example.org', isKnown: false }
    expect(await throttle.attempt(other, wrong)).toBeUndefined()
  })

  test('unknown e-mails cause as many password checks as operators’ e-mails, below and beyond every limit', async () => {
    const [unknown, known] = await Promise.all(
      [false, true].map(async (isKnown) => {
        const throttle = new SignInThrottle({ failuresOfClient: 3, answersAfterMs: 1 })
        const steps: string[] = []
        const attempt = async (email: string) => {
          let checks = 0
          const counted = async () => void (checks += 1)
          const outcome = await throttle.attempt(at(email, isKnown), counted).then(
            () => 'wrong',
            ({ status }: { status: number }) => status,
          )
          steps.push(`${outcome} after ${checks} checks`)
        }
        for (let n = 0; n < 8; n += 1) await attempt(`${n}@example.org`)
        for (let n = 0; n < 11; n += 1) await attempt('a@example.org')
        return steps
      }),
    )
    expect(known).toEqual(unknown)
    expect(unknown).toEqual([
      ...Array<string>(3).fill('wrong after 1 checks'),
      ...Array<string>(15).fill('429 after 1 checks'),
      '429 after 0 checks',
    ])
  })

  test('many concurrent attempts with unknown e-mails cause as many checks as those with operators’', async () => {
    const [unknown, known] = await Promise.all(
      [false, true].map(async (isKnown) => {
        const throttle = await failed(isKnown, 1_000)
        let checks = 0
        const counted = async () => void (checks += 1)
        await Promise.allSettled(
          Array.from({ length: 60 }, (_, n) =>
            throttle.attempt(at(`n${n}@example.org`, isKnown), counted),
          ),
        )
        return checks
      }),
    )
    expect({ unknown, known }).toEqual({ unknown: 60, known: 60 })
  })

  test('a check that takes longer than the response may take delays no response', async () => {
    const throttle = await failed(false)
    const endless = () => new Promise<undefined>(() => undefined)
    const refused = [true, false, true].map((isKnown, n) =>
      expect(throttle.attempt(at(`a${n}@example.org`, isKnown), endless)).rejects.toMatchObject(
        tooMany,
      ),
    )
    await Promise.all(refused)
  })

  test('an address that has failed too often is rejected after the same time, whether the operator exists or not', async () => {
    const throttle = await failed(false)
    for (const isKnown of [false, true]) {
      const began = performance.now()
      await expect(throttle.attempt(at('a@example.org', isKnown), wrong)).rejects.toThrow()
      expect(performance.now() - began).toBeGreaterThanOrEqual(99)
    }
  })

  test('attempts with unknown e-mails do not hold up those with operators’', async () => {
    const throttle = await failed(false)
    const order: string[] = []
    let finishFirst = () => {}
    const first = new Promise<undefined>((resolve) => (finishFirst = () => resolve(undefined)))
    const attempts = Array.from({ length: 5 }, (_, n) =>
      throttle.attempt(at(`x${n}@example.org`), async () => {
        order.push('unknown')
        return first
      }),
    )
    attempts.push(
      throttle.attempt(at('a@example.org', true), async () => {
        order.push('known')
        return undefined
      }),
    )
    const settled = Promise.allSettled(attempts)
    while (order.length === 0) await setImmediate()
    await setImmediate()
    finishFirst()
    await settled
    expect(order).toEqual(['unknown', 'known', ...Array<string>(4).fill('unknown')])
  })

  test('an address that has failed too often tries no more passwords of operators', async () => {
    const throttle = await failed(true)
    await expect(throttle.attempt(at('a@example.org', true), right)).rejects.toMatchObject(tooMany)
  })

  test('many concurrent successful sign-ins do not count as failures of their address', async () => {
    const throttle = new SignInThrottle({ failuresOfClient: 3, answersAfterMs: 100 })
    const good = Array.from({ length: 9 }, (_, n) => throttle.attempt(at(`${n}@x`, true), right))
    await Promise.allSettled(good)
    expect(await throttle.attempt(at('unknown@example.org'), wrong)).toBeUndefined()
  })
})
