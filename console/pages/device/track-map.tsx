import { useRef } from 'preact/hooks'
import { placeAt, type Track } from '../../core/track.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints, toMap } from '../../map/open-map.ts'
import { TrackPainter } from '../../map/track-painter.ts'

/**
 * A day's track on a map. The view is fitted once for each day; after that only the operator moves
 * it.
 *
 * @param track undefined while it is being read: the map itself takes as long.
 */
export function TrackMap({
  track,
  day,
  at,
  isFollowing,
}: {
  track: Track | undefined
  day: number
  at: number
  isFollowing: boolean
}) {
  const fittedTo = useRef<number | undefined>(undefined)
  return (
    <MapHost
      label="Track: arrow keys move the map, + and − zoom; the table holds the same points"
      class="track-map box"
      inputs={[track, day, at, isFollowing]}
      open={(map) => new TrackPainter(map)}
      paint={(map, painter) => {
        if (track !== undefined && fittedTo.current !== day) {
          fittedTo.current = day
          fitPoints(map, track.points, { animated: false })
        }
        painter.paint(track, at)
        const here = isFollowing && track !== undefined ? placeAt(track.points, at) : undefined
        if (here !== undefined) map.getView().setCenter(toMap(here))
      }}
    />
  )
}
