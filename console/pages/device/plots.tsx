import { useMemo } from 'preact/hooks'
import { attributeTitle, convertForPlot } from '../../core/readings.ts'
import { TimePlot, type PlotData } from '../../ui/time-plot.tsx'
import { convertLength, convertSpeed } from '../../core/measures.ts'
import { readerUnits } from '../../ui/shown.ts'
import { numericAttributes, type TrackPoint } from '../../core/track.ts'
import { createPreference } from '../../ui/preferences.ts'
import { Select } from '../../ui/choice-fields.tsx'

const HEIGHT = 66
/** Without the times below. */
const MORE_HEIGHT = 84

/**
 * The field that the operator plots in addition to speed, on every device that has it: the
 * altitude, or an attribute.
 */
const plotted = createPreference('plot', '', (text) => text)
/** No attribute has this name. */
const ALTITUDE = '@altitude'

type PlotProps = {
  points: readonly TrackPoint[]
  span: { readonly from: number; readonly to: number }
  zone: string
}

/** Speed, altitude and an attribute over time; the lowest plot has the time axis. */
export function Plots(props: PlotProps) {
  const { points } = props
  if (points.length < 2) return null
  const name = numericAttributes(points).find((one) => one === plotted.value)
  const units = readerUnits()
  const plots: Omit<PlotParts, 'hasTimes'>[] = []
  if (points.some(({ speed }) => speed !== undefined)) {
    plots.push({
      title: `Speed, ${units.speed}`,
      value: ({ speed }) => speed && convertSpeed(units.speed, speed),
    })
  }
  if (plotted.value === ALTITUDE && hasAltitude(points)) {
    plots.push({
      title: `Altitude, ${units.length === 'feet' ? 'ft' : 'm'}`,
      value: ({ altitude }) => altitude && convertLength(units.length, altitude),
    })
  }
  if (name !== undefined) {
    const value = ({ attributes }: TrackPoint) => convertForPlot(name, attributes[name], units)
    plots.push({ title: attributeTitle(name, units), value })
  }
  return (
    <>
      {plots.map((plot, index) => (
        <Plot key={plot.title} {...props} {...plot} hasTimes={index === plots.length - 1} />
      ))}
    </>
  )
}

function hasAltitude(points: readonly TrackPoint[]): boolean {
  return points.some(({ altitude }) => altitude !== undefined)
}

/** The choice of another plot; absent if there is nothing else to plot. */
export function PlotChoice({ points }: { points: readonly TrackPoint[] }) {
  const names = useMemo(() => numericAttributes(points), [points])
  const options = [
    hasAltitude(points) ? [[ALTITUDE, 'Altitude'] as const] : [],
    names.map((name) => [name, attributeTitle(name, readerUnits())] as const),
  ].flat()
  if (options.length === 0) return null
  return (
    <Select
      aria-label="Another plot"
      options={[['', 'Speed alone'], ...options]}
      value={options.find(([name]) => name === plotted.value)?.[0] ?? ''}
      onChange={(next) => (plotted.value = next)}
    />
  )
}

type PlotParts = {
  readonly title: string
  readonly value: (point: TrackPoint) => number | undefined
  readonly hasTimes: boolean
}

function Plot({ points, title, value, hasTimes, ...axis }: PlotProps & PlotParts) {
  const data = useMemo(() => dataOf(points, value), [points])
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <TimePlot
        {...axis}
        data={data}
        hasTimes={hasTimes}
        height={hasTimes ? HEIGHT : MORE_HEIGHT}
        label={`${title} over time; the table holds the same`}
      />
    </figure>
  )
}

/** The line has a gap where the device was silent. */
function dataOf(
  points: readonly TrackPoint[],
  value: (point: TrackPoint) => number | undefined,
): PlotData {
  const times: number[] = []
  const values: (number | null)[] = []
  for (const point of points) {
    const seconds = point.at / 1_000
    if (point.after !== undefined) {
      times.push(seconds - 0.001)
      values.push(null)
    }
    times.push(seconds)
    values.push(value(point) ?? null)
  }
  return [times, values]
}
