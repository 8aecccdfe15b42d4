import { afterEach, describe, expect, test } from '@jest/globals'
import { stallWatch, type GroupProgress } from '../../../event-log/kafka/stall-watch.ts'
import { eventually } from '../../eventually.ts'
import { silent } from './harness.ts'

describe('a watch over a subscription', () => {
  const stops: (() => void)[] = []

  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })

  /** A watch that looks every few milliseconds at what `progress` says. */
  function watch(progress: (look: number) => GroupProgress | Error) {
    let looks = 0
    let stalled: Error | undefined
    const watching = stallWatch({
      groupId: 'gps.projector',
      async progress() {
        looks += 1
        const result = progress(looks)
        if (result instanceof Error) throw result
        return result
      },
      logger: silent,
      stalledAfterMs: 50,
      lookEveryMs: 5,
    })
    stops.push(() => watching.stop())
    watching.stalled.catch((error: Error) => (stalled = error))
    return {
      ...watching,
      error: () => stalled,
      /** Watches until well after the stall deadline. */
      async lookLong() {
        const end = performance.now() + 200
        await eventually(() => looks > 20 && performance.now() > end)
      },
    }
  }

  test('the watch rejects if there are entries to read and nothing moves', async () => {
    const watching = watch(() => ({ position: '0:7', behind: true }))
    await eventually(() => watching.error() !== undefined)
    expect(watching.error()).toMatchObject({ name: 'DependencyError', retriable: false })
  })

  test('the watch reports no stall while the group moves, or has nothing left to read', async () => {
    const moving = watch((look) => ({ position: `0:${look}`, behind: true }))
    const done = watch(() => ({ position: '0:7', behind: false }))
    await Promise.all([moving.lookLong(), done.lookLong()])
    expect([moving.error(), done.error()]).toEqual([undefined, undefined])
  })

  test('the watch reports no stall while Kafka does not respond, or a batch is being processed', async () => {
    const away = watch(
      () => new Error('the alerts of errors and of readiness fire while Kafka is down'),
    )
    await away.lookLong()
    let looks = 0
    const busy = watch(() => {
      looks += 1
      return { position: '0:7', behind: true }
    })
    const end = performance.now() + 200
    await busy.during(() => eventually(() => performance.now() > end))
    expect([away.error(), busy.error()]).toEqual([undefined, undefined])
    expect(looks).toBeLessThan(3)
    await eventually(() => busy.error() !== undefined)
  })
})
