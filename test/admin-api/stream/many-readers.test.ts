import { expect, test } from '@jest/globals'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { startStreaming } from './stream-harness.ts'

const READERS = 10
/** About 500 bytes each. */
const EVENTS = 3_000
/** Twice 16 chunks of 16 KiB; a single reader that is not held up renders all of its events in one turn. */
const MOST_A_TURN = 2 * 16 * 60

test('readers that have fallen behind write little in one event-loop turn, so that others run', async () => {
  const { listen, open, eventLog, metrics } = await startStreaming({
    stream: { readersPerCaller: READERS + 1 },
  })
  const first = await listen()
  const lastEventId = first.lastEventId()
  const events = Array.from({ length: EVENTS }, () =>
    positionReported({ deviceId: 'é'.repeat(90) }),
  )
  for (let at = 0; at < EVENTS; at += 500) await eventLog.append(events.slice(at, at + 500))
  await eventually(() => first.events.length === EVENTS)

  const rendered = async () => {
    const { values } = await metrics.streamEvents.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  let most = 0
  let isWatching = true
  const watching = (async () => {
    for (let before = await rendered(); isWatching; await endOfTurn()) {
      const now = await rendered()
      most = Math.max(most, now - before)
      before = now
    }
  })()
  const sources = await Promise.all(
    Array.from({ length: READERS }, () => open({ lastEventId, query: '?events=position' })),
  )
  await eventually(() => sources.every((source) => source.events.length === EVENTS))
  isWatching = false
  await watching
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(MOST_A_TURN)
})
