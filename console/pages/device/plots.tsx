import { useMemo } from 'preact/hooks'
import { attributeTitle } from '../../core/attributes.ts'
import { TimePlot, type PlotData } from '../../ui/time-plot.tsx'
import { numericAttributes, type TrackPoint } from '../../core/track.ts'
import { kept } from '../../ui/preferences.ts'
import { SelectField } from '../../ui/select-field.tsx'

const HEIGHT = 120

/** The attribute that the operator plots, on every device that has it. */
const plotted = kept('plot', '', (text) => text)

/** Speed, altitude and an attribute over the day; a click moves the time cursor. */
export function Plots(props: PlotProps) {
  const names = useMemo(() => numericAttributes(props.points), [props.points])
  if (props.points.length < 2) return null
  const name = names.find((one) => one === plotted.value)
  const hasAltitude = props.points.some(({ altitude }) => altitude !== undefined)
  const hasSpeed = props.points.some(({ speed }) => speed !== undefined)
  return (
    <div class="plots stack near">
      {hasSpeed && <Plot {...props} title="Speed, km/h" value={kilometresAnHour} />}
      {hasAltitude && <Plot {...props} title="Altitude, m" value={({ altitude }) => altitude} />}
      {name !== undefined && (
        <Plot
          key={name}
          {...props}
          title={attributeTitle(name)}
          value={({ attributes }) => numberOf(attributes[name])}
        />
      )}
      {names.length > 0 && (
        <SelectField
          name="plot"
          label="Plot of an attribute"
          options={[['', 'None'], ...names.map((one) => [one, attributeTitle(one)] as const)]}
          value={name ?? ''}
          onChange={(next) => (plotted.value = next)}
        />
      )}
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
  const data = useMemo(() => dataOf(points, value), [points])
  return (
    <figure class="box">
      <figcaption>{title}</figcaption>
      <TimePlot
        {...{ data, zone }}
        height={HEIGHT}
        label={`${title} over the day; the table holds the same`}
        cursor={{ at, onMove }}
      />
    </figure>
  )
}

/** A gap of the track is also a gap of the line. */
function dataOf(
  points: readonly TrackPoint[],
  value: (point: TrackPoint) => number | undefined,
): PlotData {
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

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
