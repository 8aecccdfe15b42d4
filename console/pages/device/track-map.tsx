import { useMemo, useRef } from 'preact/hooks'
import { placeAt, smoothedSpeeds, type TrackPoint } from '../../core/track.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints, toMap } from '../../map/open-map.ts'
import { speedStep } from '../../map/speed-scale.ts'
import { TrackPainter, type PaintedTrack } from '../../map/track-painter.ts'
import { shownUnits } from '../../ui/shown.ts'
import { SpeedLegend } from './speed-legend.tsx'

/**
 * A track on a map. The view is fitted once for each day; after that only the operator moves it.
 *
 * @param points undefined while they are being read: the map itself takes as long.
 */
export function TrackMap({
  points,
  shows,
  at,
  status,
  isFollowing,
  onMove,
}: Pick<PaintedTrack, 'at' | 'status'> & {
  points: readonly TrackPoint[] | undefined
  /** What the view was fitted to: another text fits it again. */
  shows: string
  isFollowing: boolean
  onMove: (at: number) => void
}) {
  const fittedTo = useRef('')
  const move = useRef(onMove)
  move.current = onMove
  const { speed } = shownUnits()
  const coloured = useMemo(() => {
    if (points === undefined) return undefined
    const speeds = smoothedSpeeds(points)
    const fastest = speeds.reduce<number>((most, one) => Math.max(most, one ?? 0), 1)
    return { points, speeds, speedStep: speedStep(fastest, speed) }
  }, [points, speed])
  return (
    <div class="track-map box">
      <MapHost
        label="Track: arrow keys move the map, + and − zoom; the table holds the same points"
        inputs={[coloured, shows, at, status, isFollowing]}
        open={(map) => new TrackPainter(map, (chosen) => move.current(chosen))}
        paint={(map, painter) => {
          if (points !== undefined && fittedTo.current !== shows) {
            fittedTo.current = shows
            // The strip below has come with the points, and taken its room.
            map.updateSize()
            fitPoints(map, points, { animated: false })
          }
          painter.paint(coloured && { ...coloured, at, status })
          const here = isFollowing ? placeAt(points ?? [], at) : undefined
          if (here !== undefined) map.getView().setCenter(toMap(here))
        }}
      />
      {coloured !== undefined && coloured.points.length > 1 && (
        <SpeedLegend step={coloured.speedStep} />
      )}
    </div>
  )
}
