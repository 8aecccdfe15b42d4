import { afterAll, describe, expect, test } from '@jest/globals'
import { Grants } from '../../../ingest-api/keys/grants.ts'
import { ApiError } from '../../../runtime/errors.ts'
import type { KeyGrant } from '../../../store/back-office.ts'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'

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

/** A source of grants that counts how often it is asked and answers what it is told to. */
function source(answer: () => Promise<KeyGrant | undefined>) {
  const clock = { time: T0, now: () => clock.time }
  const asked = { times: 0 }
  const keys = {
    findGrant: () => {
      asked.times += 1
      return answer()
    },
  }
  const grants = new Grants({ keys, clock, wallClock: clock, stopping: stopping.signal })
  const find = (secret: Buffer) => grants.find(secret, async () => undefined)
  return { clock, asked, grants: { find } }
}

describe('what the store says of a key', () => {
  test('is asked once for many requests, and not again for 2 s', async () => {
    const { clock, asked, grants } = source(async () => grantNamed('a'))
    await Promise.all(Array.from({ length: 20 }, () => grants.find(hash)))
    clock.time += 1_999
    await grants.find(hash)
    expect(asked.times).toBe(1)
  })

  test('is refreshed in the background from 2 s on', async () => {
    let name = 'old'
    const { clock, asked, grants } = source(async () => grantNamed(name))
    await grants.find(hash)
    name = 'new'
    clock.time += 2_000
    expect((await grants.find(hash))?.key.name).toBe('old')
    await eventually(async () => (await grants.find(hash))?.key.name === 'new')
    expect(asked.times).toBe(2)
  })

  test('is never used beyond 5 s while the store answers', async () => {
    let name = 'old'
    const { clock, grants } = source(async () => grantNamed(name))
    await grants.find(hash)
    name = 'new'
    clock.time += 5_000
    expect((await grants.find(hash))?.key.name).toBe('new')
  })

  test('that there is no such key is remembered too, but not when the store is away', async () => {
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

  test('a store that hangs counts as away: known keys do not wait for it again and again', async () => {
    let hang = false
    const { clock, asked, grants } = source(() =>
      hang ? new Promise(() => undefined) : Promise.resolve(grantNamed('a')),
    )
    await grants.find(hash)
    hang = true
    clock.time += 10_000
    const started = performance.now()
    expect((await grants.find(hash))?.key.name).toBe('a')
    expect(performance.now() - started).toBeLessThan(4_500)
    expect((await grants.find(hash))?.key.name).toBe('a')
    expect(asked.times).toBe(2)
  })

  test('while it is away nobody waits for it a second time, and it is looked for in the background', async () => {
    let hang = false
    let name = 'old'
    const { clock, grants } = source(() =>
      hang ? new Promise(() => undefined) : Promise.resolve(grantNamed(name)),
    )
    const others = Array.from({ length: 5 }, (_, n) => Buffer.alloc(32, n + 2))
    for (const key of [hash, ...others]) await grants.find(key)
    hang = true
    clock.time += 10_000
    await grants.find(hash)
    // Longer than it is waited for once, with every pause in between.
    const waits: number[] = []
    for (let round = 0; round < 50; round += 1) {
      const started = performance.now()
      expect((await grants.find(others[round % 5] ?? hash))?.key.name).toBe('old')
      waits.push(performance.now() - started)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(Math.max(...waits)).toBeLessThan(500)
    // Nobody asks for a key that is used no more; once the store answers it is looked up first.
    hang = false
    name = 'new'
    await new Promise((resolve) => setTimeout(resolve, 4_500))
    for (const key of [hash, ...others]) expect((await grants.find(key))?.key.name).toBe('new')
  }, 30_000)

  test('is stale where the time read with it lies ahead', async () => {
    const { clock, asked, grants } = source(async () => grantNamed('a'))
    await grants.find(hash)
    clock.time -= 1
    await grants.find(hash)
    expect(asked.times).toBe(2)
  })

  test('is not pushed out by keys that nobody has', async () => {
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
