import { setMaxListeners } from 'node:events'
import type { DevicePlan } from './planned-report.ts'
import { reportSender } from './report-sender.ts'
import { connectService } from './service.ts'
import { showProgress, type Screen } from './progress.ts'
import type { RunResult } from './summary.ts'
import { count, newTally } from './tally.ts'
import type { Timing } from './timing.ts'
import { VisibilityCheck } from './visibility-check.ts'

const MOST_CONNECTIONS = 256
const READING_CONNECTIONS = 32
/** Node fires longer timers immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Runs all devices at once, each sending one report at a time in order. Never rejects because of the
 * service: its answers are in the result.
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
  // One listener per device is no leak.
  setMaxListeners(0, ended, cut)
  const connections = Math.min(plans.length, MOST_CONNECTIONS)
  const service = connectService({ url, key, connections, signal: cut })
  const reading =
    verify &&
    connectService({
      url: verify.adminUrl,
      key: verify.readKey,
      connections: READING_CONNECTIONS,
      signal: cut,
    })
  const check = reading && new VisibilityCheck({ service: reading, timing, cut })
  const expected = plans.reduce((sum, plan) => sum + plan.count, 0)
  const stopShowing = showProgress({ screen, tally, expected, now: () => timing.now() })

  async function until(time: number): Promise<void> {
    for (let earlyMs = Infinity; earlyMs > 0 && !ended.aborted;) {
      earlyMs = time - timing.now()
      if (earlyMs > 0) await timing.pause(Math.min(earlyMs, LONGEST_TIMER_MS), ended)
    }
  }

  async function drive({ reports }: DevicePlan): Promise<void> {
    const send = reportSender({ service, giveUpMs, timing, tally, stop: ended })
    for (const { dueMs, body } of reports) {
      await until(startedAt + dueMs)
      if (ended.aborted) return
      tally.sent += 1
      const outcome = await send(body)
      switch (outcome.kind) {
        case 'acknowledged':
          tally.acknowledged += 1
          check?.watch(outcome.recordId)
          break
        case 'refused':
          count(tally.refused, outcome.reason)
          // Further attempts would only get this address locked out.
          if (outcome.reason === 'UNAUTHORIZED') hopeless.abort()
          break
        case 'given-up':
          count(tally.givenUp, outcome.reason)
          break
        case 'unfinished':
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
    stopShowing()
    await Promise.all([service.close(), reading?.close()])
  }
}
