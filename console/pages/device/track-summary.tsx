import { movingText, type Track } from '../../core/track.ts'
import { Facts } from '../../ui/facts.tsx'
import { shownDistance, shownLength, shownNumber, shownSpeed } from '../../ui/shown.ts'

/** The totals of all points of a track. */
export function TrackSummary({ track }: { track: Track }) {
  const { total, points, distanceMetres, movingSeconds, maxSpeed, toleranceMetres } = track
  const drawn = (
    <span title="Points left out are closer to the line than this">
      within {shownLength(Math.ceil(toleranceMetres))}
    </span>
  )
  return (
    <Facts
      class="track-summary row"
      of={[
        ['Distance', shownDistance(distanceMetres)],
        ['Moving', movingText(movingSeconds)],
        ['Top speed', shownSpeed(maxSpeed ?? undefined) ?? '–'],
        ['Reports', shownNumber(total)],
        ['Drawn', points.length < total ? drawn : undefined],
      ]}
    />
  )
}
