import { useMemo, useRef } from 'preact/hooks'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import { MapCanvas } from '../../map/map-canvas.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints } from '../../map/open-map.ts'
import { palette } from '../../ui/palette.ts'

/** Shows a sample of the files' positions on a map fitted to them. */
export function HistoryMap({ places }: { places: readonly (readonly [number, number])[] }) {
  const points = useMemo(
    () => places.map(([latitude, longitude]) => toMercator(longitude, latitude)),
    [places],
  )
  const latest = useRef(points)
  latest.current = points
  return (
    <div class="history-map box">
      <MapHost
        label="Map of the files: arrow keys move it, + and − zoom"
        inputs={[points]}
        open={(map) =>
          new MapCanvas(map, (context, { project }) => {
            context.fillStyle = palette.peek().accent
            for (const point of latest.current) {
              const [x, y] = project(point)
              context.fillRect(x - 1.5, y - 1.5, 3, 3)
            }
          })
        }
        paint={(map, canvas) => {
          map.updateSize()
          if (points.length > 0) fitPoints(map, points, { animated: false })
          canvas.paint()
        }}
      />
    </div>
  )
}
