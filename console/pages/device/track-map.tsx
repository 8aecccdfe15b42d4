import 'ol/ol.css'
import '../../map/map.css'
import { useEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { MapButtons } from '../../map/map-buttons.tsx'
import { MapCredits } from '../../map/map-credits.tsx'
import { fitPoints, openMap, toMap } from '../../map/open-map.ts'
import { palette } from '../../ui/palette.ts'
import { TrackPainter } from '../../map/track-painter.ts'
import { placeAt, type Track } from '../../core/track.ts'

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
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; painter: TrackPainter }>(null)
  const fittedTo = useRef<number | undefined>(undefined)
  const colours = palette.value

  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current)
    shown.current = { map, painter: new TrackPainter(map) }
    map.updateSize()
    return close
  }, [])

  useEffect(() => {
    const { map, painter } = shown.current ?? { map: undefined, painter: undefined }
    if (map !== undefined && track !== undefined && fittedTo.current !== day) {
      fittedTo.current = day
      fitPoints(map, track.points, { animated: false })
    }
    painter?.paint(track, at)
    const here = isFollowing && track !== undefined ? placeAt(track.points, at) : undefined
    if (here !== undefined) map?.getView().setCenter(toMap(here))
  }, [track, day, at, isFollowing, colours])

  return (
    <div class="fleet-map track-map">
      <div
        ref={target}
        class="map-target"
        tabIndex={0}
        role="application"
        aria-label="Track: arrow keys move the map, + and − zoom; the table holds the same points"
      />
      <MapButtons map={() => shown.current?.map} />
      <MapCredits />
    </div>
  )
}
