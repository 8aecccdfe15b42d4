import { setMaxListeners } from 'node:events'
import { gpsClient } from '../../client/client.ts'
import type { Timing } from '../../client/timing.ts'
import { limitConnections } from './kept-connections.ts'
import type { DevicePlan } from './planned-report.ts'
import { showProgress, type Screen } from '../progress.ts'
import { progressLine, type RunResult, count, newTally } from './summary.ts'
import { VisibilityCheck, readRecords } from './visibility-check.ts'

const MOST_CONNECTIONS = 256
const READING_CONNECTIONS = 32
const SHOWN_EVERY_MS = 200
/** Node fires longer timers immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Runs all devices concurrently, each sending one report at a time in order. Never rejects because
 * of the service: its responses are in the result.
 * @param stop aborted: sends no more, but waits for requests in flight and verifies.
 * @param cut aborted: also aborts requests in flight.
 */
export async function runSimulation({
  plans,
  url,
  key,
  giveUpMs,
  verify,
  timing,
  startedAt,
  screen,
  stop,
  cut,
}: {
  plans: readonly DevicePlan[]
  url: URL
  key: string
  giveUpMs: number
  verify?: { readonly adminUrl: URL; readonly readKey: string }
  timing: Timing
  startedAt: number
  screen: Screen
  stop: AbortSignal
  cut: AbortSignal
}): Promise<RunResult> {
  const tally = newTally()
  const hopeless = new AbortController()
  const ended = AbortSignal.any([stop, cut, hopeless.signal])
  // One listener per device is not a leak.
  setMaxListeners(0, ended, cut)
  const most = Math.min(plans.length, MOST_CONNECTIONS)
  const sending = limitConnections({ most, cut })
  const reading = limitConnections({ most: READING_CONNECTIONS, cut })
  const check =
    verify &&
    new VisibilityCheck({ readRecord: readRecords({ ...verify, ...reading }), timing, cut })
  const expected = plans.reduce((sum, plan) => sum + plan.count, 0)
  const progress = showProgress({ screen, now: () => timing.now() })
  const show = () =>
    progress.show(() => progressLine({ tally, expected, elapsedMs: timing.now() - startedAt }))
  const showing = setInterval(show, SHOWN_EVERY_MS)

  async function waitUntil(time: number): Promise<void> {
    for (let earlyMs = Infinity; earlyMs > 0 && !ended.aborted;) {
      earlyMs = time - timing.now()
      if (earlyMs > 0) await timing.pause(Math.min(earlyMs, LONGEST_TIMER_MS), ended)
    }
  }

  async function drive({ reports }: DevicePlan): Promise<void> {
    // One client per device, so that each gives up alone.
    const client = gpsClient({
      url,
      key,
      timing,
      fetch: sending.fetch,
      giveUpAfterMs: giveUpMs,
      observe: {
        answered: (ms) => tally.answerMs.add(ms),
        repeated: (reason) => count(tally.repeated, reason),
      },
    })
    for (const { dueMs, report } of reports) {
      await waitUntil(startedAt + dueMs)
      if (ended.aborted) return
      tally.sent += 1
      const outcome = await client.submit(report, { signal: ended })
      switch (outcome.kind) {
        case 'accepted':
          tally.acknowledged += 1
          check?.watch(outcome.recordId)
          break
        case 'refused':
          count(tally.refused, outcome.error)
          // Further attempts would only get this address locked out.
          if (outcome.error === 'UNAUTHORIZED') hopeless.abort()
          break
        case 'given-up':
          count(tally.givenUp, outcome.reason)
          break
        case 'stopped':
          tally.unfinished += 1
          break
      }
    }
  }

  try {
    await Promise.all(plans.map(drive))
    const seconds = (timing.now() - startedAt) / 1000
    const visibility = await check?.result()
    return {
      devices: plans.length,
      seconds,
      tally,
      ...(visibility !== undefined && { visibility }),
      ...(hopeless.signal.aborted && { endedBecause: 'the service does not accept the key' }),
    }
  } finally {
    clearInterval(showing)
    progress.end()
    await Promise.all([sending.close(), reading.close()])
  }
}
