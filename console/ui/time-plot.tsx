import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { clockText, dateText } from '../core/date-words.ts'
import { numberText } from '../core/measures.ts'
import { DAY_MS, timeTicks, valueRange, valueTicks } from '../core/ticks.ts'
import { date, time } from '../core/times.ts'
import { clockHours } from './preferences.ts'

/** Seconds since the epoch, and the value at each; null interrupts the line. */
export type PlotData = readonly [
  times: readonly number[],
  values: readonly (number | null | undefined)[],
]

/** Space left and right of the lines, for the value axis and the time axis's last label. */
export const PLOT_INSET = { left: 52, right: 16 }
const TOP = 8
const TIMES_HEIGHT = 22
const BOTTOM = 6
/** The space that a mark takes. */
const TIME_PIXELS = 64
const VALUE_PIXELS = 18
const MINUTE_MS = 60_000

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
  /** Pass a new object only for new data: the line is then recomputed, too. */
  data: PlotData
  zone: string
  height: number
  /** For screen readers. */
  label: string
  /** Values are whole numbers; the axis starts at 0. */
  isCount?: boolean
  /** Start and end of the time axis, in milliseconds; by default those of the data. */
  span?: { readonly from: number; readonly to: number }
  /** Whether the time axis has marks. */
  hasTimes?: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const look = () => setWidth(element.clientWidth)
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => resized.disconnect()
  }, [])
  // The height is set before the line is drawn, so that the layout around it does not jump.
  const style = { height: `${height}px` }
  const axis = { data, zone, height, width, isCount, hasTimes, from: span?.from, to: span?.to }
  return (
    <div ref={host} style={style} role="img" aria-label={label}>
      {width > PLOT_INSET.left + PLOT_INSET.right && <Lines {...axis} />}
    </div>
  )
}

type LinesProps = {
  data: PlotData
  zone: string
  height: number
  width: number
  isCount: boolean
  hasTimes: boolean
  from: number | undefined
  to: number | undefined
}

function Lines({ data, zone, height, width, isCount, hasTimes, ...span }: LinesProps) {
  const [times, values] = data
  const from = span.from ?? (times[0] ?? 0) * 1_000
  const to = span.to ?? (times.at(-1) ?? 0) * 1_000
  const bottom = height - (hasTimes ? TIMES_HEIGHT : BOTTOM)
  const [low, high] = useMemo(() => rangeOf(values, isCount), [data, isCount])
  const x = (ms: number) =>
    PLOT_INSET.left +
    ((ms - from) / (to - from || 1)) * (width - PLOT_INSET.left - PLOT_INSET.right)
  const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - TOP)
  const line = useMemo(() => lineOf(data, x, y), [data, width, height, from, to, low, high])
  const marks = timeTicks(from, to, Math.floor(width / TIME_PIXELS), zone)
  const levels = valueTicks(low, high, Math.floor((bottom - TOP) / VALUE_PIXELS), isCount)
  const decimals = Math.max(0, Math.ceil(-Math.log10(levels.step)))
  const right = width - PLOT_INSET.right
  return (
    <svg class="time-plot" width={width} height={height} aria-hidden="true">
      {levels.at.map((level) => (
        <g key={level}>
          <line x1={PLOT_INSET.left} x2={right} y1={y(level)} y2={y(level)} />
          <text x={PLOT_INSET.left - 8} y={y(level) + 4} text-anchor="end">
            {numberText(level, undefined, decimals)}
          </text>
        </g>
      ))}
      {marks.at.map((at) => (
        <g key={at}>
          <line x1={x(at)} x2={x(at)} y1={TOP} y2={bottom} />
          {hasTimes && (
            <text x={x(at)} y={bottom + 15} text-anchor="middle">
              {markText(at, marks.step, { zone, isOfDays: to - from > DAY_MS })}
            </text>
          )}
        </g>
      ))}
      <path d={line} />
    </svg>
  )
}

function markText(
  at: number,
  step: number,
  { zone, isOfDays }: { zone: string; isOfDays: boolean },
): string {
  const isMidnight = time(at, zone) === '00:00:00'
  return step >= DAY_MS || (isOfDays && isMidnight)
    ? dateText(date(at, zone), date(at, zone))
    : clockText(at, zone, clockHours.value, step < MINUTE_MS)
}

function rangeOf(values: PlotData[1], isCount: boolean): readonly [number, number] {
  let [least, greatest] = [Infinity, -Infinity]
  for (const value of values) {
    if (typeof value !== 'number') continue
    least = Math.min(least, value)
    greatest = Math.max(greatest, value)
  }
  if (isCount) return [0, Math.max(1, greatest * 1.1)]
  return least > greatest ? [0, 1] : valueRange(least, greatest)
}

function lineOf(
  [times, values]: PlotData,
  x: (ms: number) => number,
  y: (value: number) => number,
): string {
  let isBegun = false
  let path = ''
  for (const [index, at] of times.entries()) {
    const value = values[index]
    if (typeof value !== 'number') {
      isBegun = false
      continue
    }
    path += `${isBegun ? 'L' : 'M'}${x(at * 1_000).toFixed(1)} ${y(value).toFixed(1)}`
    isBegun = true
  }
  return path
}
