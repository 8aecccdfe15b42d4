import type { EventLog } from '../../event-log/event-log.ts'
import { away } from './away.ts'

/** States of the connection between the spool and its log, which can be cut. */
export const LINES = ['up', 'down', 'hung', 'mute', 'responses lost'] as const
export type Line = (typeof LINES)[number]

/** The connection to a log; initially up. */
export function lineTo(log: EventLog) {
  let line: Line = 'up'
  const waiting: (() => void)[] = []
  const silence = () => new Promise<void>((resolve) => waiting.push(resolve))

  const append: EventLog['append'] = async (events, options) => {
    const met = line
    if (met === 'hung') await silence()
    if (met === 'hung' || met === 'down') throw away()
    await log.append(events, options)
    if (met === 'mute' && line === met) await silence()
    if (met !== 'up') throw away()
  }

  /** Aborts pending calls. */
  function letGo(): void {
    waiting.splice(0).forEach((proceed) => proceed())
  }

  return {
    append,
    letGo,
    becomes(state: Line): void {
      line = state
      letGo()
    },
  }
}
