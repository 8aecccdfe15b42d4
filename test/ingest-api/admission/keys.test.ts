import { afterAll, describe, expect, jest, test } from '@jest/globals'
import { GoodSecrets } from '../../../runtime/limits/auth-failures.ts'
import { ApiError } from '../../../runtime/errors.ts'
import type { KeyGrant } from '../../../store/keys.ts'
import { T0 } from '../../samples.ts'

// From here on time advances only on demand.
jest.useFakeTimers()
jest.unstable_mockModule('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}))
const { KeyCache } = await import('../../../ingest-api/admission/keys.ts')

const hash = Buffer.alloc(32, 1)

function grantNamed(name: string): KeyGrant {
  return {
    key: {
      id: 'key-1',
      accountId: 'acc-1',
      name,
      hint: 'gps_',
      scopes: ['positions:write'],
      createdAt: T0,
    },
    accountSuspended: false,
    disabledDevices: new Set(),
  }
}

const stopping = new AbortController()
afterAll(() => stopping.abort())

/** A source of grants that counts its calls and gives the desired responses. */
function source(answer: () => Promise<KeyGrant | undefined>) {
  const clock = { time: T0, now: () => clock.time }
  const wallClock = { time: T0, now: () => wallClock.time }
  const asked = { times: 0 }
  const keys = {
    findGrant: () => {
      asked.times += 1
      return answer()
    },
  }
  const good = new GoodSecrets({ clock })
  const grants = new KeyCache({
    keys,
    good,
    clock,
    wallClock,
    stopping: stopping.signal,
  })
  const find = (secret: Buffer) => grants.find(secret, async () => undefined)
  return { clock, wallClock, asked, grants: { find } }
}

describe('cached keys', () => {
  test('many requests with one key cause a single look-up, and no further one for 2 s', async () => {
    const { clock, asked, grants } = source(async () => grantNamed('a'))
    await Promise.all(Array.from({ length: 20 }, () => grants.find(hash)))
    clock.time += 1_999
    await grants.find(hash)
    expect(asked.times).toBe(1)
  })

  test('a cached key is refreshed in the background from 2 s on', async () => {
    let name = 'old'
    const { clock, asked, grants } = source(async () => grantNamed(name))
    await grants.find(hash)
    name = 'new'
    clock.time += 2_000
    expect((await grants.find(hash))?.key.name).toBe('old')
    await jest.advanceTimersByTimeAsync(0)
    expect((await grants.find(hash))?.key.name).toBe('new')
    expect(asked.times).toBe(2)
  })

  test('a cached key is never used beyond 5 s while the store answers', async () => {
    let name = 'old'
    const { clock, grants } = source(async () => grantNamed(name))
    await grants.find(hash)
    name = 'new'
    clock.time += 5_000
    expect((await grants.find(hash))?.key.name).toBe('new')
  })

  test('an unknown key is cached too, but not if the store is unavailable', async () => {
    let away = false
    const { clock, asked, grants } = source(async () => {
      if (away) throw new Error('away')
      return undefined
    })
    expect(await grants.find(hash)).toBeUndefined()
    expect(await grants.find(hash)).toBeUndefined()
    expect(asked.times).toBe(1)
    away = true
    clock.time += 5_000
    await expect(grants.find(hash)).rejects.toThrow(ApiError)
  })

  test('a store that hangs counts as unavailable, so that known keys do not wait for it repeatedly', async () => {
    let hang = false
    const { clock, asked, grants } = source(() =>
      hang ? new Promise(() => undefined) : Promise.resolve(grantNamed('a')),
    )
    await grants.find(hash)
    hang = true
    clock.time += 10_000
    const found = grants.find(hash)
    await jest.advanceTimersByTimeAsync(3_000)
    expect((await found)?.key.name).toBe('a')
    expect((await grants.find(hash))?.key.name).toBe('a')
    expect(asked.times).toBe(2)
  })

  test('while the store is unavailable no key waits for it twice, and it is probed in the background', async () => {
    let hang = false
    let name = 'old'
    const { clock, grants } = source(() =>
      hang ? new Promise(() => undefined) : Promise.resolve(grantNamed(name)),
    )
    const others = Array.from({ length: 5 }, (_, n) => Buffer.alloc(32, n + 2))
    for (const key of [hash, ...others]) await grants.find(key)
    hang = true
    clock.time += 10_000
    const first = grants.find(hash)
    await jest.advanceTimersByTimeAsync(3_000)
    await first
    // Longer than one wait for the store, with every pause in between; no timer runs while they
    // ask.
    for (let round = 0; round < 50; round += 1) {
      expect((await grants.find(others[round % 5] ?? hash))?.key.name).toBe('old')
      await jest.advanceTimersByTimeAsync(100)
    }
    // An unused key is not looked up; once the store responds, a used key is looked up first.
    hang = false
    name = 'new'
    await jest.advanceTimersByTimeAsync(4_500)
    for (const key of [hash, ...others]) expect((await grants.find(key))?.key.name).toBe('new')
  })

  test('a cached key is stale if it was read at a time in the clock’s future', async () => {
    const { clock, asked, grants } = source(async () => grantNamed('a'))
    await grants.find(hash)
    clock.time -= 1
    await grants.find(hash)
    expect(asked.times).toBe(2)
  })

  test('setting the machine’s clock does not change whether a cached key is stale', async () => {
    const { clock, wallClock, asked, grants } = source(async () => grantNamed('a'))
    await grants.find(hash)
    wallClock.time -= 3_600_000
    await grants.find(hash)
    expect(asked.times).toBe(1)
    clock.time += 5_000
    await grants.find(hash)
    expect(asked.times).toBe(2)
  })

  test('unknown keys evict no cached key', async () => {
    let known = true
    const { asked, grants } = source(async () => (known ? grantNamed('a') : undefined))
    await grants.find(hash)
    known = false
    for (let n = 0; n < 51_000; n += 1) {
      const made = Buffer.alloc(32)
      made.writeUInt32BE(n + 1)
      await grants.find(made)
    }
    const before = asked.times
    expect((await grants.find(hash))?.key.name).toBe('a')
    expect(asked.times).toBe(before)
  })
})
