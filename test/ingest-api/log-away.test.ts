import { describe, expect, jest, test } from '@jest/globals'
import { DependencyError } from '../../runtime/errors.ts'
import { eventually } from '../eventually.ts'
import { fakeTimers } from '../fake-timers.ts'
import { expectRefused } from './expect-refused.ts'
import { startIngest } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

describe('an unavailable log', () => {
  test('while the log is unavailable, a report gets 503 with Retry-After', async () => {
    const cut = await startIngest({
      wrapLog: (log) => ({
        append: async () => {
          throw new DependencyError('disk full at /var/lib/gps', { retriable: true })
        },
        ready: () => log.ready(),
      }),
    })
    const { secret } = await cut.createKey()
    const answer = await cut.submit(minimal, { key: secret })
    await cut.close()
    expectRefused(answer, 503, 'SERVICE_UNAVAILABLE')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.stringify(answer.body)).not.toContain('/var/lib')
  })

  test('while log and store hang, a report gets 503 within 6 s', async () => {
    let hang = false
    let lookingUp = false
    let appending = false
    const never = () => new Promise<never>(() => undefined)
    const cut = await startIngest({
      wrapKeys: (store) => ({
        findGrant: (hash) => {
          lookingUp = hang
          return hang ? never() : store.findGrant(hash)
        },
      }),
      wrapLog: (log) => ({
        append: (events) => {
          appending = hang
          return hang ? never() : log.append(events)
        },
        ready: () => log.ready(),
      }),
    })
    const { secret } = await cut.createKey()
    expect((await cut.submit(minimal, { key: secret })).status).toBe(200)
    hang = true
    cut.clock.time += 10_000
    fakeTimers('setTimeout', 'clearTimeout', 'performance')
    try {
      const answer = cut.submit(minimal, { key: secret })
      await eventually(() => lookingUp)
      jest.advanceTimersByTime(3_000)
      await eventually(() => appending)
      jest.advanceTimersByTime(3_000)
      expectRefused(await answer, 503, 'SERVICE_UNAVAILABLE')
    } finally {
      jest.useRealTimers()
    }
    await cut.close()
  })
})
