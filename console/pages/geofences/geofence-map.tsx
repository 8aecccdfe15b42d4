import { useEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { canFinish, closedSketch, sketchOf, type Sketch } from '../../core/sketch.ts'
import { GeofencePainter, pointsOf, type PaintedGeofence } from '../../map/geofence-painter.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints } from '../../map/open-map.ts'
import { drawSketch, type SketchOwner } from './draw-sketch.ts'
import type { ApiGeofence } from './use-definitions.ts'
import type { Drawing } from './use-sketch.ts'

/** The geofences on a map, and what is being drawn. */
export function GeofenceMap({
  geofences,
  selected,
  drawing,
  onSelect,
}: {
  geofences: readonly PaintedGeofence[]
  selected: ApiGeofence | undefined
  drawing: Drawing
  onSelect: (id: string | undefined) => void
}) {
  const latest = useRef({ drawing, onSelect })
  latest.current = { drawing, onSelect }
  const shown = useRef<OlMap>(null)
  const { sketch, marked, typed } = drawing
  const isEmpty = geofences.length === 0
  const clickedId = useRef<string>(undefined)
  const hasShown = useRef(false)
  // What is selected in the list, or entered as numbers, is in view; otherwise only the operator moves the map.
  useEffect(() => {
    if (selected === undefined || selected.id !== clickedId.current) {
      const rings = selected && pointsOf(sketchOf(selected.shape))
      if (rings !== undefined) show(shown.current, rings)
      else if (!hasShown.current)
        show(
          shown.current,
          geofences.flatMap(({ rings: all }) => all),
        )
    }
    hasShown.current ||= !isEmpty
  }, [selected?.id, isEmpty])
  useEffect(() => {
    if (sketch !== undefined) show(shown.current, pointsOf(sketch))
  }, [typed])
  return (
    <MapHost
      label="Map of geofences: arrow keys move it, + and − zoom; the fields beside it take places as numbers"
      inputs={[geofences, selected?.id, sketch, marked]}
      open={(map) => {
        shown.current = map
        const painter = new GeofencePainter(map)
        drawSketch(
          map,
          painter,
          ownerOf(() => latest.current, clickedId),
        )
        return painter
      }}
      paint={(_, painter) => painter.paint({ geofences, selectedId: selected?.id, sketch, marked })}
      keys={{
        Enter: {
          label: 'Finish the shape',
          run: () => {
            if (sketch !== undefined && canFinish(sketch)) drawing.set(closedSketch(sketch))
          },
        },
      }}
    />
  )
}

function show(map: OlMap | null, rings: PaintedGeofence['rings']): void {
  if (map !== null) fitPoints(map, rings.flat(), { animated: false })
}

function ownerOf(
  latest: () => { drawing: Drawing; onSelect: (id: string | undefined) => void },
  clickedId: { current: string | undefined },
): SketchOwner {
  return {
    sketch: () => latest().drawing.sketch,
    show: (sketch: Sketch) => latest().drawing.show(sketch),
    keep: () => latest().drawing.keep(),
    mark: (corner) => latest().drawing.mark(corner),
    select(id) {
      clickedId.current = id
      latest().onSelect(id)
    },
  }
}
