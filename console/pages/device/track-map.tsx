import { useMemo, useRef, useState } from 'preact/hooks'
import { positionAlong, smoothSpeeds, type Track, type TrackPoint } from '../../core/track.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints, toMap } from '../../map/open-map.ts'
import { speedStep, SPEED_COLOURS } from '../../map/speed-scale.ts'
import { TrackPainter, type PaintedTrack } from '../../map/track-painter.ts'
import { readerUnits, formatNumber, formatSpeed } from '../../ui/shown.ts'
import { printMap } from './print-map.ts'
import { getMapSight, useFinerTrack, type MapPart, type MapSight } from './finer-track.ts'
import { convertSpeed } from '../../core/measures.ts'

/**
 * A track on a map. The view is fitted once to the days, and to each selected part of them; after
 * that only the operator moves it.
 *
 * @param track undefined while it is being read: the map itself takes as long.
 */
export function TrackMap({
  track,
  loadPart,
  shows,
  at,
  status,
  stops,
  selected,
  isFollowing,
  isPlain,
  others = [],
  places = [],
  tailMs,
  onMove,
}: Pick<PaintedTrack, 'at' | 'status' | 'stops' | 'selected' | 'isPlain'> &
  Partial<Pick<PaintedTrack, 'others' | 'places' | 'tailMs'>> & {
    track: Track | undefined
    /** Reads the track of a part of the map; absent if there is no finer track. */
    loadPart?: (part: MapPart, signal: AbortSignal) => Promise<Track>
    /** Identifies the displayed days: a new value fits the view again. */
    shows: string
    isFollowing: boolean
    onMove: (at: number) => void
  }) {
  const fittedTo = useRef('')
  const move = useRef(onMove)
  move.current = onMove
  const paper = useRef<() => void>(null)
  const shownPoints = useRef<readonly TrackPoint[]>([])
  const { speed } = readerUnits()
  const points = track?.points
  const [sight, setSight] = useState<MapSight>()
  const finer = useFinerTrack(track, sight, loadPart)
  const coloured = useMemo(() => {
    if (points === undefined) return undefined
    const speeds = smoothSpeeds(points)
    const fastest = speeds.reduce<number>((most, one) => Math.max(most, one ?? 0), 1)
    return { points, speeds, speedStep: speedStep(fastest, speed) }
  }, [points, speed])
  const drawn = useMemo(() => {
    if (coloured === undefined || finer === undefined) return coloured
    return { ...coloured, points: finer.points, speeds: smoothSpeeds(finer.points) }
  }, [coloured, finer])
  return (
    <div class="track-map box">
      <MapHost
        label="Track: arrow keys move the map, + and − zoom; the table holds the same points"
        areNamesAbove
        inputs={[
          drawn,
          shows,
          at,
          status,
          stops,
          selected,
          isFollowing,
          isPlain,
          others,
          places,
          tailMs,
        ]}
        open={(map) => {
          map.on('moveend', () => setSight(getMapSight(map)))
          paper.current = printMap(map, () =>
            fitPoints(map, shownPoints.current, { animated: false }),
          )
          return new TrackPainter(map, (chosen) => move.current(chosen))
        }}
        leave={() => paper.current?.()}
        paint={(map, painter) => {
          const wanted = [shows, selected?.from, ...others.map(({ deviceId }) => deviceId)].join()
          const ofAll = [...(points ?? []), ...others.flatMap((one) => one.points)]
          shownPoints.current = pickSelected(ofAll, selected)
          if (points !== undefined && fittedTo.current !== wanted) {
            fittedTo.current = wanted
            // The strip below appears with the points, and shrinks the map.
            map.updateSize()
            fitPoints(map, shownPoints.current, { animated: false })
          }
          const shown = { at, status, stops, selected, isPlain, others, places, tailMs }
          painter.paint(drawn && { ...drawn, ...shown, whole: points ?? [] })
          const here = isFollowing ? positionAlong(points ?? [], at) : undefined
          if (here !== undefined) map.getView().setCenter(toMap(here))
        }}
        legend={
          coloured !== undefined &&
          !isPlain &&
          coloured.points.length > 1 && <SpeedLegend step={coloured.speedStep} />
        }
      />
    </div>
  )
}

/** The points of the selected part; all points if nothing is selected, or the part has none. */
function pickSelected(
  points: readonly TrackPoint[],
  selected: PaintedTrack['selected'],
): readonly TrackPoint[] {
  if (selected === undefined) return points
  const found = points.filter(({ at }) => selected.from <= at && at <= selected.to)
  return found.length === 0 ? points : found
}

/** The colours of a track, and the speed from which each is used. */
function SpeedLegend({ step }: { step: number }) {
  return (
    <ol class="speed-legend note" aria-label="Colours of the track, by speed">
      {SPEED_COLOURS.map((colour, index) => (
        <li key={colour}>
          <span class="speed-colour" style={{ backgroundColor: colour }} />
          {index === SPEED_COLOURS.length - 1
            ? `${formatSpeed(index * step)} +`
            : formatNumber(convertSpeed(readerUnits().speed, index * step))}
        </li>
      ))}
    </ol>
  )
}
