import { describe, expect, test } from '@jest/globals'
import { DependencyError } from '../../runtime/errors.ts'
import { expectRefused } from './expect-refused.ts'
import { startIngest } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

describe('a log that takes nothing', () => {
  test('without a log that takes it, a report gets 503 with Retry-After where it may go better later', async () => {
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

  test('without a log that takes it, a report gets 503 within 6 s where the store hangs too', async () => {
    let hang = false
    const cut = await startIngest({
      wrapKeys: (store) => ({
        findGrant: (hash) => (hang ? new Promise(() => undefined) : store.findGrant(hash)),
      }),
      wrapLog: (log) => ({
        append: (events) => (hang ? new Promise(() => undefined) : log.append(events)),
        ready: () => log.ready(),
      }),
    })
    const { secret } = await cut.createKey()
    expect((await cut.submit(minimal, { key: secret })).status).toBe(200)
    hang = true
    cut.clock.time += 10_000
    const started = performance.now()
    expectRefused(await cut.submit(minimal, { key: secret }), 503, 'SERVICE_UNAVAILABLE')
    expect(performance.now() - started).toBeLessThan(6_000)
    await cut.close()
  })
})
