import { preciseDuration } from '../../core/times.ts'
import type { Track } from '../../core/track.ts'
import type { Totals } from '../../core/trips.ts'
import { Facts } from '../../ui/facts.tsx'
import { shownDistance, shownLength, shownNumber, shownSpeed } from '../../ui/shown.ts'

/** The totals of all points of a track, and of its trips where they are listed. */
export function TrackSummary({
  track,
  trips,
}: {
  track: Track
  /** Undefined while they are being read; null if they are not listed. */
  trips: Totals | undefined | null
}) {
  const { total, points, maxSpeed, toleranceMetres } = track
  const drawn = (
    <span title="Points left out are closer to the line than this">
      within {shownLength(Math.ceil(toleranceMetres))}
    </span>
  )
  const ofTrips = (text: (totals: Totals) => string | undefined) =>
    trips === null ? undefined : trips === undefined ? '…' : text(trips)
  return (
    <Facts
      class="track-summary row"
      of={[
        ['Distance', ofTrips(({ distanceMetres }) => shownDistance(distanceMetres))],
        ['On the way', ofTrips(({ lastedMs }) => preciseDuration(lastedMs))],
        ['Top speed', shownSpeed(maxSpeed ?? undefined) ?? '–'],
        ['Reports', shownNumber(total)],
        ['Drawn', points.length < total ? drawn : undefined],
      ]}
    />
  )
}
