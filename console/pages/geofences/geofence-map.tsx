import { useEffect, useRef } from 'preact/hooks'
import DoubleClickZoom from 'ol/interaction/DoubleClickZoom.js'
import type OlMap from 'ol/Map.js'
import {
  canFinish,
  closeSketch,
  sketchOf,
  clickSketch,
  dragHandle,
  radiusFrom,
  type Sketch,
  type Handle,
  type LonLat,
} from '../../core/sketch.ts'
import { GeofencePainter, pointsOf, type PaintedGeofence } from '../../map/geofence-painter.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints, pixelToPosition } from '../../map/open-map.ts'
import type { ApiGeofence } from './use-definitions.ts'
import type { Drawing } from './use-sketch.ts'

/** The geofences on a map, and the one being drawn. */
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
  // A geofence selected in the list, or entered as numbers, is in view; otherwise only the operator
  // moves the map.
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
  const isDrawn = sketch !== undefined
  useEffect(() => {
    // Two quick corners are not a double click that zooms.
    for (const one of shown.current?.getInteractions().getArray() ?? []) {
      if (one instanceof DoubleClickZoom) one.setActive(!isDrawn)
    }
  }, [isDrawn])
  return (
    <MapHost
      label="Map of geofences: arrow keys move it, + and − zoom; the fields beside it take points as numbers"
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
            if (sketch !== undefined && canFinish(sketch)) drawing.set(closeSketch(sketch))
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

/** The reach of a handle. */
const MOUSE_PIXELS = 12
const FINGER_PIXELS = 22
/** A shorter movement of the pointer is a click. */
const CLICK_PIXELS = 4
/** The radius of a circle created by a click. */
const CIRCLE_PIXELS = 60

type SketchOwner = {
  readonly sketch: () => Sketch | undefined
  /** Shows a sketch while it is dragged. */
  readonly show: (sketch: Sketch) => void
  /** Records the displayed sketch as a step that can be undone. */
  readonly keep: () => void
  readonly mark: (corner: number) => void
  /** Called for a click while nothing is being drawn. */
  readonly select: (geofenceId: string | undefined) => void
}

/**
 * Draws with mouse or finger: a click adds a corner or sets the centre of a circle, which a mouse
 * can also draw from the centre outwards; handles are dragged.
 */
function drawSketch(map: OlMap, painter: GeofencePainter, owner: SketchOwner): void {
  const target = map.getTargetElement()
  // Runs before the map, which would move.
  target?.addEventListener('pointerdown', (event) => grab(event), { capture: true })
  map.on('click', ({ pixel }) => {
    const sketch = owner.sketch()
    if (sketch === undefined) return owner.select(painter.geofenceAt(pixel))
    if (!isIncomplete(sketch)) return
    const at = placeAtPixel(map, pixel)
    if (sketch.type === 'circle') owner.show(createCircle(at, pixel))
    else owner.show(clickSketch(sketch, at))
    owner.keep()
  })
  map.on('pointermove', ({ pixel, dragging }) => {
    if (dragging) return
    const sketch = owner.sketch()
    const isOver = painter.handleAt(pixel, MOUSE_PIXELS) !== undefined
    const idle = sketch === undefined ? painter.geofenceAt(pixel) && 'pointer' : undefined
    const cursor = isOver ? 'move' : sketch && isIncomplete(sketch) ? 'crosshair' : idle
    target?.style.setProperty('cursor', cursor ?? '')
  })

  function createCircle(centre: LonLat, [x = 0, y = 0]: readonly number[]): Sketch {
    return {
      type: 'circle',
      centre,
      radius: radiusFrom(centre, placeAtPixel(map, [x + CIRCLE_PIXELS, y])),
    }
  }

  function grab(event: PointerEvent): void {
    const sketch = owner.sketch()
    if (sketch === undefined || event.button !== 0 || !event.isPrimary) return
    const isMouse = event.pointerType === 'mouse'
    const from = map.getEventPixel(event)
    const handle = painter.handleAt(from, isMouse ? MOUSE_PIXELS : FINGER_PIXELS)
    // A double click returns to the last corner.
    const isEnd = handle?.kind === 'corner' && isEndOf(sketch, handle.index)
    if (isEnd && canFinish(sketch)) return follow(event, closeSketch(sketch))
    if (handle !== undefined) return follow(event, sketch, handle)
    if (!isMouse || sketch.type === 'area' || sketch.centre !== undefined) return
    follow(event, createCircle(placeAtPixel(map, from), from), OUTWARDS)
  }

  /**
   * Drags the handle until the pointer is released; without a handle, the sketch is already
   * correct.
   */
  function follow(begin: PointerEvent, sketch: Sketch, handle?: Handle): void {
    begin.stopPropagation()
    const ending = new AbortController()
    let isDragged = false
    // A new circle shows where the mouse was pressed.
    if (handle === OUTWARDS || handle === undefined) owner.show(sketch)
    const move = (event: PointerEvent) => {
      if (event.pointerId !== begin.pointerId || handle === undefined) return
      const way = Math.hypot(event.clientX - begin.clientX, event.clientY - begin.clientY)
      isDragged ||= way > CLICK_PIXELS
      if (isDragged)
        owner.show(dragHandle(sketch, handle, placeAtPixel(map, map.getEventPixel(event))))
    }
    const end = (event: PointerEvent) => {
      if (event.pointerId !== begin.pointerId) return
      ending.abort()
      if (isDragged || handle === OUTWARDS || handle === undefined) owner.keep()
      else if (handle.kind === 'corner') owner.mark(handle.index)
    }
    const { signal } = ending
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', end, { signal })
    addEventListener('pointercancel', end, { signal })
  }
}

const OUTWARDS: Handle = { kind: 'edge', at: [0, 0], index: 0 }

function isEndOf(sketch: Sketch, corner: number): boolean {
  const [[ring = []] = []] = sketch.type === 'area' ? sketch.polygons : []
  return corner === 0 || corner === ring.length - 1
}

/** Whether a click adds to the sketch. */
function isIncomplete(sketch: Sketch): boolean {
  return sketch.type === 'circle' ? sketch.centre === undefined : sketch.isDrawing
}

function placeAtPixel(map: OlMap, pixel: readonly number[]): LonLat {
  const { longitude, latitude } = pixelToPosition(map, pixel)
  return [longitude, latitude]
}
