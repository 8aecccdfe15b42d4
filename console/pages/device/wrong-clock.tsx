import type { ClockError } from '../../core/clock-error.ts'
import { duration } from '../../core/times.ts'
import { shownDateTime } from '../../ui/shown.ts'

/** The page's note on a device that reports with dates of the past. */
export function WrongClock({ of: error }: { of: ClockError }) {
  const { why, remedy } = clockWords(error)
  return (
    <section class="card box stack some" aria-labelledby="wrong-clock">
      <h2 id="wrong-clock">Its clock is wrong</h2>
      <p>{why}</p>
      <p class="quiet">{remedy}</p>
    </section>
  )
}

export function clockWords({ datedMs, receivedMs, isRollover, isLast }: ClockError) {
  return {
    why:
      `Its clock is ${duration(receivedMs - datedMs)} behind: a report that arrived ` +
      `${shownDateTime(receivedMs)} is dated ${shownDateTime(datedMs)}. Its reports are stored under such dates` +
      (isLast ? '.' : ', so its last position does not change.'),
    remedy: isRollover
      ? 'Exactly 1024 weeks: its GPS receiver counts the weeks wrongly since a rollover. Update its firmware, or ask ' +
        'its manufacturer; where its app or gateway can send the time of the phone or server instead, choose that.'
      : 'Set its date and time, best automatically. A tracker may need an update of its firmware, or a new battery for its clock.',
  }
}
