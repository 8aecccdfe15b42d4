import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { palette } from './palette.ts'
import { time } from '../core/times.ts'

/** Seconds since the epoch, and the value at each; null interrupts the line. */
export type PlotData = readonly [
  times: readonly number[],
  values: readonly (number | null | undefined)[],
]

const MINUTE = 60
const HOUR = 60 * MINUTE

/** Seconds between marks of the time axis. Marks below one second would have the same labels. */
const TIME_STEPS = [
  ...[1, 5, 10, 15, 30],
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
]

/** Steps between marks of counts, which have no halves: 1, 2, 5, 10 and so on. */
const COUNT_STEPS = Array.from({ length: 10 }, (_, zeros) => 10 ** zeros).flatMap((unit) => [
  unit,
  2 * unit,
  5 * unit,
])

/** A line over time in the operator's zone. */
export function TimePlot({
  data,
  zone,
  height,
  label,
  isCount = false,
  cursor,
}: {
  /** Pass a new object only for new data: the plot is then created anew, too. */
  data: PlotData
  zone: string
  height: number
  /** For screen readers. */
  label: string
  /** Values are whole numbers; the axis begins at 0. */
  isCount?: boolean
  /** The position of the time cursor, in milliseconds; a click moves it. */
  cursor?: { readonly at: number; readonly onMove: (at: number) => void }
}) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const moveTo = useRef(cursor?.onMove)
  moveTo.current = cursor?.onMove
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
    const hasCursor = moveTo.current !== undefined
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: hasCursor, y: false, drag: { x: false, y: false } },
        scales: isCount ? { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } } : {},
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
        axes: [
          {
            ...axis,
            size: 30,
            space: 60,
            incrs: TIME_STEPS,
            values: (_, marks, __, ___, step) =>
              marks.map((mark) => time(mark * 1_000, zone).slice(0, step < MINUTE ? 8 : 5)),
          },
          { ...axis, size: 52, ...(isCount && { incrs: COUNT_STEPS }) },
        ],
        series: [{}, { stroke: colours.accent, width: 1.5, points: { show: false } }],
      },
      data as unknown as uPlot.AlignedData,
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    made.over.addEventListener('click', () => {
      const { left } = made.cursor
      if (left !== undefined && left >= 0) moveTo.current?.(made.posToVal(left, 'x') * 1_000)
    })
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [data, zone, colours, height, isCount])

  const at = cursor?.at
  useEffect(() => {
    if (at === undefined) return
    const left = plot.current?.valToPos(at / 1_000, 'x')
    if (left !== undefined) plot.current?.setCursor({ left, top: 0 }, false)
  }, [at, data, zone, colours])

  return <div ref={host} class="plot" role="img" aria-label={label} />
}
