import { batteryText } from '../../core/measures.ts'
import { preciseDuration } from '../../core/times.ts'
import type { TrackPoint } from '../../core/track.ts'
import type { Episode } from '../../core/trips.ts'
import { Facts } from '../../ui/facts.tsx'
import { shownClock, shownLength, shownSpeed } from '../../ui/shown.ts'
import { attributeFacts } from '../../ui/device-parts.tsx'
import { PlaceLinks } from './place-links.tsx'

/** As the list of trips says it: a device found at the same place after a silence was stopped there. */
const SILENCE_WORDS = {
  stop: ': it stopped at the same place',
  gap: ': its location is unknown',
  trip: ', on the way',
}
const SECOND_MS = 1_000

/** The latest report until the chosen moment. */
export function AtMoment({
  at,
  point,
  next,
  episode,
  day,
}: {
  at: number
  point: TrackPoint
  next: TrackPoint | undefined
  /** The trip, stop or gap of the moment, if it is known. */
  episode: Episode | undefined
  /** In words, where several days are shown. */
  day: string | undefined
}) {
  const { speed, heading, accuracy, altitude, battery, attributes, isImported } = point
  const before = at - point.at
  return (
    <section class="card box stack" aria-labelledby="at-moment">
      <h2 id="at-moment">
        At {shownClock(at)}
        {day !== undefined && `, ${day}`}
      </h2>
      {before < 0 && (
        <p class="note">The first report of the day is later, at {shownClock(point.at)}.</p>
      )}
      {before > 0 && next?.after !== undefined && (
        <p class="note">
          No reports from {shownClock(point.at)} to {shownClock(next.at)}
          {episode && SILENCE_WORDS[episode.kind]}.
        </p>
      )}
      <PlaceLinks place={point} />
      <Facts
        of={[
          ['Speed', shownSpeed(speed)],
          ['Heading', heading === undefined ? undefined : `${Math.round(heading)}°`],
          ['Accuracy', shownLength(accuracy)],
          ['Altitude', shownLength(altitude)],
          ['Battery', batteryText(battery)],
          ...attributeFacts(attributes),
          [
            'Reported',
            before < SECOND_MS
              ? undefined
              : `${preciseDuration(before - (before % SECOND_MS))} before, at ${shownClock(point.at)}`,
          ],
          ['Origin', isImported ? 'imported' : undefined],
        ]}
      />
    </section>
  )
}
