import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { newestTelemetry, type ApiPosition, type ApiTelemetry } from '../../core/live-device.ts'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { attributeFacts } from '../../ui/device-parts.tsx'
import { batteryText, coordinatesText } from '../../core/measures.ts'
import { dateTime } from '../../core/date-words.ts'
import { duration, offset } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { clockHours, readerZone } from '../../ui/preferences.ts'
import { formatDateTime, formatLength, formatSpeed, formatClock } from '../../ui/shown.ts'
import type { TrackPoint } from '../../core/track.ts'
import { placeText, wayText } from '../../core/place-words.ts'
import type { Episode } from '../../core/trips.ts'
import { formatAgain } from '../../core/moment.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { usePlace } from './use-place.ts'
import { CopyButton } from '../../ui/copy-button.tsx'

/** The device's last position, its time in the chosen zone and in UTC, and its newest telemetry. */
export function LastPositionCard({
  position,
  telemetry,
  zone,
}: {
  position: ApiPosition
  telemetry: ApiTelemetry | undefined
  zone: string
}) {
  const { timestamp, receivedAt, heading } = position
  const at = Date.parse(timestamp)
  const isUtc = offset(at, zone) === 'UTC'
  const facts: readonly Fact[] = [
    ['Time', `${formatDateTime(at, SECONDS)} ${offset(at, zone)}`],
    [
      'UTC',
      isUtc
        ? undefined
        : dateTime(at, { now: now.value, zone: 'UTC', clock: clockHours.value, ...SECONDS }),
    ],
    ['Delay', delayText(Date.parse(receivedAt) - at)],
    ['Speed', formatSpeed(position.speed)],
    ['Heading', heading === undefined ? undefined : `${Math.round(heading)}°`],
    ['Altitude', formatLength(position.altitude)],
    ['Accuracy', formatLength(position.accuracy)],
  ]
  const { battery, attributes } = newestTelemetry({ position, telemetry })
  const data: readonly Fact[] = [['Battery', batteryText(battery)], ...attributeFacts(attributes)]
  return (
    <section class="card box stack" aria-labelledby="last-position">
      <h2 id="last-position">Now</h2>
      <PlaceLinks place={position} />
      <Facts of={telemetry === undefined ? [...facts, ...data] : facts} />
      {telemetry !== undefined && (
        <>
          <h3>Newer data</h3>
          <Facts
            of={[['Received', formatDateTime(Date.parse(telemetry.receivedAt), SECONDS)], ...data]}
          />
        </>
      )}
    </section>
  )
}

const SECONDS = { hasSeconds: true }

function delayText(laterMs: number): string {
  if (laterMs <= -1_000) return `${duration(-laterMs)} early: its clock runs ahead`
  return laterMs < 1_000 ? 'none' : duration(laterMs)
}

/**
 * The wording of the list of trips: a device found at the same place after a silence was stopped
 * there.
 */
const SILENCE_WORDS = {
  stop: ': it stopped at the same place',
  gap: ': its location is unknown',
  trip: ', on the way',
}
const SECOND_MS = 1_000

/** The latest report before or at the selected moment. */
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
  /** The trip, stop or gap at the selected time, if known. */
  episode: Episode | undefined
  /** The formatted day, if several days are displayed. */
  day: string | undefined
}) {
  const { speed, heading, accuracy, altitude, battery, attributes, isImported } = point
  const before = at - point.at
  return (
    <section class="card box stack" aria-labelledby="at-moment">
      <h2 id="at-moment">
        At {formatClock(at)}
        {formatAgain(at, readerZone())}
        {day !== undefined && `, ${day}`}
      </h2>
      {before < 0 && (
        <p class="note">The first report of the day is later, at {formatClock(point.at)}.</p>
      )}
      {before > 0 && next?.after !== undefined && (
        <p class="note">
          No reports from {formatClock(point.at)} to {formatClock(next.at)}
          {episode && SILENCE_WORDS[episode.kind]}.
        </p>
      )}
      <PlaceLinks place={point} way={describeLocation(episode)} />
      <Facts
        of={[
          ['Speed', formatSpeed(speed)],
          ['Heading', heading === undefined ? undefined : `${Math.round(heading)}°`],
          ['Accuracy', formatLength(accuracy)],
          ['Altitude', formatLength(altitude)],
          ['Battery', batteryText(battery)],
          ...attributeFacts(attributes),
          [
            'Reported',
            before < SECOND_MS
              ? undefined
              : `${duration(before - (before % SECOND_MS))} before, at ${formatClock(point.at)}`,
          ],
          ['Origin', isImported ? 'imported' : undefined],
        ]}
      />
    </section>
  )
}

/** Describes where the device was, in the wording of the trip list. */
function describeLocation(episode: Episode | undefined): string | undefined {
  if (episode?.kind === 'stop') return placeText(episode.place)
  return episode?.kind === 'trip' ? wayText(episode.start.place, episode.end.place) : undefined
}

/**
 * Shows a place's name, with coordinates to copy or open in other maps.
 *
 * @param way shown until the place is known, because a replay passes many places.
 */
function PlaceLinks({ place, way = '' }: { place: Coordinates; way?: string | undefined }) {
  const coordinates = coordinatesText(place)
  const name = usePlace(place) ?? way
  return (
    <div class="stack tight">
      {name !== '' && (
        <p class="strong">
          <Isolated>{name}</Isolated>
        </p>
      )}
      <p class="row between">
        <code>{coordinates}</code>
        <CopyButton text={coordinates} what="coordinates" />
      </p>
      <p class="row note">
        Open in
        {linksTo(place).map(([where, href]) => (
          <a
            key={where}
            href={href}
            aria-label={`Open in ${where}`}
            target={href.startsWith('https:') ? '_blank' : undefined}
            rel="noreferrer"
            data-outside
          >
            {where}
          </a>
        ))}
      </p>
    </div>
  )
}

function linksTo({ latitude, longitude }: Coordinates): readonly (readonly [string, string])[] {
  const osm = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
  return [
    ['OpenStreetMap', `${osm}#map=17/${latitude}/${longitude}`],
    ['Google Maps', `https://www.google.com/maps/search/?api=1&query=${latitude},${longitude}`],
    ['an app', `geo:${latitude},${longitude}`],
  ]
}
