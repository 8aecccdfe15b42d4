import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { palette } from '../../map/palette.ts'
import { time } from '../../parts/times.ts'
import type { TrackPoint } from './track.ts'

const HEIGHT = 120

/** Speed and altitude over the day; a click moves the time cursor. */
export function Plots(props: PlotProps) {
  const hasAltitude = props.points.some(({ altitude }) => altitude !== undefined)
  const hasSpeed = props.points.some(({ speed }) => speed !== undefined)
  return (
    <div class="plots">
      {hasSpeed && <Plot {...props} title="Speed, km/h" value={kilometresAnHour} />}
      {hasAltitude && <Plot {...props} title="Altitude, m" value={({ altitude }) => altitude} />}
    </div>
  )
}

type PlotProps = {
  points: readonly TrackPoint[]
  at: number
  zone: string
  onMove: (at: number) => void
}

function Plot({
  points,
  at,
  zone,
  onMove,
  title,
  value,
}: PlotProps & { title: string; value: (point: TrackPoint) => number | undefined }) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const colours = palette.value

  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const axis = {
      stroke: colours.label,
      grid: { stroke: colours.border, width: 0.5 },
      ticks: { stroke: colours.border, width: 0.5 },
      font: '11px system-ui, sans-serif',
    }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: true } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
        axes: [
          {
            ...axis,
            values: (_, marks) => marks.map((mark) => time(mark * 1_000, zone).slice(0, 5)),
          },
          { ...axis, size: 44 },
        ],
        series: [
          {},
          { stroke: colours.accent, width: 1.5, points: { show: false }, spanGaps: false },
        ],
      },
      dataOf(points, value),
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    const click = () => {
      const { left } = made.cursor
      if (left !== undefined && left >= 0) onMove(made.posToVal(left, 'x') * 1_000)
    }
    made.over.addEventListener('click', click)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [points, zone, colours])

  useEffect(() => {
    const left = plot.current?.valToPos(at / 1_000, 'x')
    if (left !== undefined) plot.current?.setCursor({ left, top: 0 }, false)
  }, [at, points, zone, colours])

  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div ref={host} class="plot" />
    </figure>
  )
}

/** A gap of the track is one of the line too. */
function dataOf(
  points: readonly TrackPoint[],
  value: (point: TrackPoint) => number | undefined,
): uPlot.AlignedData {
  const times: number[] = []
  const values: (number | null)[] = []
  for (const point of points) {
    const seconds = point.at / 1_000
    if (point.afterGap) {
      times.push(seconds - 0.001)
      values.push(null)
    }
    times.push(seconds)
    values.push(value(point) ?? null)
  }
  return [times, values]
}

function kilometresAnHour({ speed }: TrackPoint): number | undefined {
  return speed === undefined ? undefined : speed * 3.6
}
