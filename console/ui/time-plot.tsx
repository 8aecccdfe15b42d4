import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { palette } from './palette.ts'
import { dateText } from '../core/days.ts'
import { clockText, date, time } from '../core/times.ts'
import { clockHours } from './preferences.ts'

/** Seconds since the epoch, and the value at each; null interrupts the line. */
export type PlotData = readonly [
  times: readonly number[],
  values: readonly (number | null | undefined)[],
]

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Seconds between marks of the time axis. Marks below one second would have the same labels. */
const TIME_STEPS = [
  ...[1, 5, 10, 15, 30],
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
  ...[1, 2, 4, 7, 14, 28, 56].map((days) => days * DAY),
]

/** Steps between marks of counts, which have no halves: 1, 2, 5, 10 and so on. */
const COUNT_STEPS = Array.from({ length: 10 }, (_, zeros) => 10 ** zeros).flatMap((unit) => [
  unit,
  2 * unit,
  5 * unit,
])

/**
 * The axis of values spans at least a hundredth of the greatest value: a closer view would show
 * noise, and repeat labels.
 */
const LEAST_PART = 0.01

function valueRange(least: number, most: number): uPlot.Range.MinMax {
  const lacking = Math.max(Math.abs(least), Math.abs(most)) * LEAST_PART - (most - least)
  const more = Math.max(0, lacking) / 2
  return uPlot.rangeNum(least - more, most + more, 0.1, true)
}

/** The room beside the lines, for the values' axis and for the last mark of the time axis. */
export const PLOT_INSET = { left: 52, right: 16 }

/** A line over time in the operator's zone. */
export function TimePlot({
  data,
  zone,
  height,
  label,
  isCount = false,
  span,
  hasTimes = true,
}: {
  /** Pass a new object only for new data: the plot is then created again, too. */
  data: PlotData
  zone: string
  height: number
  /** For screen readers. */
  label: string
  /** Values are whole numbers; the axis begins at 0. */
  isCount?: boolean
  /** The time axis begins and ends here, in milliseconds; without it, where the data do. */
  span?: { readonly from: number; readonly to: number }
  /** Whether the time axis has marks. */
  hasTimes?: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const colours = palette.value
  const hours = clockHours.value
  const [from, to] = [span && span.from / 1_000, span && span.to / 1_000]

  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const axis = {
      stroke: colours.label,
      grid: { stroke: colours.border, width: 0.5 },
      ticks: { stroke: colours.border, width: 0.5 },
      font: '11px system-ui, sans-serif',
    }
    const isOfDays = (data[0].at(-1) ?? 0) - (data[0][0] ?? 0) > DAY
    const markText = (at: number, step: number) => {
      const clock = clockText(at, zone, hours, step < MINUTE)
      const isMidnight = time(at, zone) === '00:00:00'
      return step >= DAY || (isOfDays && isMidnight)
        ? dateText(date(at, zone), date(at, zone))
        : clock
    }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, PLOT_INSET.right, hasTimes ? 0 : 6, 0],
        scales: {
          y: {
            range: (_, least, most) =>
              isCount ? [0, Math.max(1, most * 1.1)] : valueRange(least, most),
          },
          ...(from !== undefined && to !== undefined && { x: { range: [from, to] } }),
        },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
        axes: [
          {
            ...axis,
            show: hasTimes,
            size: 30,
            space: 60,
            incrs: TIME_STEPS,
            values: (_, marks, __, ___, step) => marks.map((mark) => markText(mark * 1_000, step)),
          },
          { ...axis, size: PLOT_INSET.left, ...(isCount && { incrs: COUNT_STEPS }) },
        ],
        series: [{}, { stroke: colours.accent, width: 1.5, points: { show: false } }],
      },
      data as unknown as uPlot.AlignedData,
      element,
    )
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [data, zone, colours, hours, height, isCount, from, to, hasTimes])

  // The height is set before the lines are drawn, so that the layout around it does not jump.
  const style = { height: `${height}px` }
  return <div ref={host} style={style} role="img" aria-label={label} />
}
