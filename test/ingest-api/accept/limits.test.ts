import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DeviceLimit } from '../../../ingest-api/accept/limits.ts'
import { memoryRateCounters } from '../../../runtime/limits/rate-counters.ts'
import { loadConfig } from '../../../runtime/config/config.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'

describe('devices', () => {
  const report = (deviceId: string) => ({ deviceId, latitude: 54.3, longitude: 10.1 })

  let ingest: IngestHarness
  let key: string

  beforeEach(async () => {
    fakeTimers('performance')
    ingest = await startIngest({
      rateLimits: { device: { points: 3, seconds: 60 }, key: { points: 10, seconds: 60 } },
    })
    key = (await ingest.createKey()).secret
  })

  afterEach(async () => {
    jest.useRealTimers()
    await ingest.close()
  })

  const send = (deviceId: string, more: object = {}) =>
    ingest.submit({ ...report(deviceId), ...more }, { key })

  function told({ status, headers }: Answer) {
    return {
      status,
      limit: headers.get('ratelimit'),
      policy: headers.get('ratelimit-policy'),
      retryAfter: headers.get('retry-after'),
    }
  }

  describe('rates of devices', () => {
    test('a device beyond its rate gets a 429, and others are unaffected', async () => {
      const policy = '"device";q=3;w=60'
      const good = { status: 200, policy, retryAfter: null }
      expect(told(await send('tug'))).toEqual({ ...good, limit: '"device";r=2;t=60' })
      expect(told(await send('tug'))).toEqual({ ...good, limit: '"device";r=1;t=60' })
      expect(told(await send('tug'))).toEqual({ ...good, limit: '"device";r=0;t=60' })
      const limit = '"device";r=0;t=60'
      const late = await send('tug')
      expect(told(late)).toEqual({ status: 429, policy, limit, retryAfter: '60' })
      expect(late.body).toMatchObject({ error: 'RATE_LIMITED' })
      expect(late.body['message']).toContain('3 times in 60 s')
      expect((await send('barge')).status).toBe(200)
      expect((await ingest.logged()).map(({ deviceId }) => deviceId)).toEqual([
        'tug',
        'tug',
        'tug',
        'barge',
      ])
      expect(await ingest.rejected(1)).toMatchObject([{ deviceId: 'tug', error: 'RATE_LIMITED' }])
    })

    test('a device is counted by account, whichever key reports for it', async () => {
      const other = (await ingest.createKey()).secret
      const foreign = (await ingest.createKey({ accountId: 'acc-9' })).secret
      for (const one of [key, other, key]) await ingest.submit(report('tug'), { key: one })
      expect((await ingest.submit(report('tug'), { key: other })).status).toBe(429)
      expect((await ingest.submit(report('tug'), { key: foreign })).status).not.toBe(429)
    })

    test('a device is not charged for reports refused earlier', async () => {
      const listed = (await ingest.createKey({ deviceIds: ['van'] })).secret
      for (let n = 0; n < 4; n += 1) {
        expect((await send('tug', { latitude: 91 })).status).toBe(400)
        expect((await ingest.submit(report('tug'), { key: listed })).status).toBe(403)
      }
      const own = (await ingest.createKey()).secret
      const answer = await ingest.submit(report('tug'), { key: own })
      expect(told(answer).limit).toBe('"device";r=2;t=60')
    })

    test('a device that reports once a second never reaches the default limit', async () => {
      const { device } = loadConfig({}).rateLimits
      const own = await startIngest({ rateLimits: { device } })
      const { secret } = await own.createKey()
      for (let second = 0; second < 61; second += 1) {
        expect((await own.submit(report('tug'), { key: secret })).status).toBe(200)
        jest.advanceTimersByTime(1_000)
      }
      await own.close()
    })

    test('each device of a large request is counted, in groups of a hundred', async () => {
      const limit = { points: 1, seconds: 60 }
      let pending = 0
      let most = 0
      const devices = new DeviceLimit({
        limit,
        openCounters: ({ seconds }) => {
          const counters = memoryRateCounters({ seconds })
          return {
            ...counters,
            add: async (...args) => {
              most = Math.max(most, (pending += 1))
              await nextTurn()
              pending -= 1
              return counters.add(...args)
            },
          }
        },
      })
      const names = Array.from({ length: 250 }, (_, n) => `van-${n}`)
      const [early = '', late = ''] = [names[0], names.at(-1)]
      await devices.take('acc-1', new Set([early, late]))
      const taken = await devices.take('acc-1', new Set(names))
      expect([...taken.keys()]).toEqual(names)
      const exceeded = names.filter((name) => taken.get(name)?.exceeded)
      expect(exceeded).toEqual([early, late])
      expect(most).toBe(100)
    })
  })

  describe('headers', () => {
    test('the headers show the key’s limit once many devices have reported', async () => {
      expect(told(await send('van-0')).limit).toBe('"device";r=2;t=60')
      for (let n = 1; n < 4; n += 1) await send(`van-${n}`)
      // 5 of 10 is less than 2 of 3.
      expect(told(await send('van-4'))).toMatchObject({
        limit: '"key";r=5;t=60',
        policy: '"key";q=10;w=60',
      })
    })

    test('the headers show the key’s limit if no device was counted', async () => {
      expect(told(await ingest.submit('no JSON', { key }))).toMatchObject({
        status: 400,
        limit: '"key";r=9;t=60',
      })
      expect(told(await send('tug', { speed: -1 }))).toMatchObject({ limit: '"key";r=8;t=60' })
    })

    test('a caller without a key gets no limit headers', async () => {
      const answer = await ingest.submit(report('tug'))
      expect(answer.status).toBe(401)
      expect(answer.headers.has('ratelimit')).toBe(false)
    })
  })

  describe('batches', () => {
    const batch = async (...reports: object[]) => {
      const answer = await ingest.batch({ reports }, { key })
      const data = answer.body['data'] as { results: { error?: string }[] } | undefined
      return { ...told(answer), errors: data?.results.map(({ error }) => error) }
    }

    test('a batch counts once for each device in it, and its headers show the key’s limit', async () => {
      const four = ['tug', 'tug', 'barge', 'tug'].map(report)
      expect(await batch(...four)).toMatchObject({
        status: 200,
        limit: '"key";r=6;t=60',
        policy: '"key";q=10;w=60',
      })
      await send('tug')
      expect(told(await send('tug')).limit).toBe('"device";r=0;t=60')
      const { status, errors } = await batch(report('tug'), report('barge'))
      expect(status).toBe(200)
      expect(errors).toEqual(['RATE_LIMITED', undefined])
    })

    test('a batch charges no device for its faulty reports', async () => {
      await batch({ ...report('tug'), latitude: 91 }, report('van'))
      expect(told(await send('tug')).limit).toBe('"device";r=2;t=60')
      await batch({ ...report('tug'), latitude: 91 }, report('tug'))
      const own = (await ingest.createKey()).secret
      const answer = await ingest.submit(report('tug'), { key: own })
      expect(told(answer).limit).toBe('"device";r=0;t=60')
    })

    test('a batch over the key’s limit is accepted in part: its first reports', async () => {
      const reports = Array.from({ length: 8 }, (_, n) => report(`van-${n}`))
      await batch(...reports)
      const { status, errors, limit } = await batch(...reports)
      expect(status).toBe(200)
      expect(errors).toEqual([undefined, undefined, ...Array<string>(6).fill('RATE_LIMITED')])
      expect(limit).toBe('"key";r=0;t=60')
      expect(await batch(...reports)).toMatchObject({ status: 429, retryAfter: '60', limit })
      // The six were not counted against their devices.
      const own = (await ingest.createKey()).secret
      const answer = await ingest.submit(report('van-7'), { key: own })
      expect(told(answer).limit).toBe('"device";r=1;t=60')
    })
  })

  test('a response without limits has no limit headers', async () => {
    const own = await startIngest()
    const { secret } = await own.createKey()
    for (const answer of [
      await own.submit(report('tug'), { key: secret }),
      await own.batch({ reports: [report('tug')] }, { key: secret }),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.headers.has('ratelimit')).toBe(false)
      expect(answer.headers.has('ratelimit-policy')).toBe(false)
    }
    await own.close()
  })
})

describe('keys', () => {
  const report = { deviceId: 'tug-1', latitude: 54.3, longitude: 10.1 }

  let harness: IngestHarness

  beforeEach(async () => {
    fakeTimers('performance')
    harness = await startIngest({ rateLimits: { key: { points: 3, seconds: 1 } } })
  })

  afterEach(async () => {
    jest.useRealTimers()
    await harness.close()
  })

  /** Sends this many reports one after another. */
  async function send(count: number, key: string): Promise<Answer[]> {
    const answers: Answer[] = []
    for (let sent = 0; sent < count; sent += 1) answers.push(await harness.submit(report, { key }))
    return answers
  }

  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

  test('a key may report up to the service’s limit, then must wait', async () => {
    const { secret: key } = await harness.createKey()
    const answers = await send(4, key)
    expect(statuses(answers)).toEqual([200, 200, 200, 429])
    const last = answers.at(-1)
    expect(last?.body).toMatchObject({ success: false, code: 429, error: 'RATE_LIMITED' })
    expect(last?.body['message']).toContain('3 positions in 1 s')
    expect(last?.headers.get('retry-after')).toBe('1')
    expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual([
      '"key";r=2;t=1',
      '"key";r=1;t=1',
      '"key";r=0;t=1',
      '"key";r=0;t=1',
    ])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"key";q=3;w=1')
    jest.advanceTimersByTime(1_000)
    expect(statuses(await send(1, key))).toEqual([200])
  })

  test('a key’s own limit applies to it alone, regardless of other keys', async () => {
    const { secret: narrow } = await harness.createKey({ rateLimit: 2 })
    const { secret: wide } = await harness.createKey({ rateLimit: 100 })
    expect(statuses(await send(4, narrow))).toEqual([200, 200, 429, 429])
    const answers = await send(10, wide)
    expect(new Set(statuses(answers))).toEqual(new Set([200]))
    expect(answers.at(-1)?.headers.get('ratelimit')).toMatch(/^"key";r=90;t=60$/)
    expect(answers.at(-1)?.headers.get('ratelimit-policy')).toBe('"key";q=100;w=60')
  })

  test('a report refused for the limit is not an event, and its body is not read', async () => {
    const { id, secret: key } = await harness.createKey({ rateLimit: 1 })
    await send(1, key)
    const refused = await harness.submit('no JSON', { key })
    expect(refused.status).toBe(429)
    expect(refused.body['message']).toContain('may report 1 position in 60 s')
    expect((await harness.logged()).map(({ keyId }) => keyId)).toEqual([id])
  })

  test('a changed limit takes effect as soon as the key is looked up again', async () => {
    const { id, secret: key } = await harness.createKey({ rateLimit: 1 })
    expect(statuses(await send(2, key))).toEqual([200, 429])
    await harness.store.changeKey({ accountId: 'acc-1', keyId: id, rateLimit: 50 })
    harness.clock.time += 5_000
    expect(statuses(await send(2, key))).toEqual([200, 200])
  })
})
