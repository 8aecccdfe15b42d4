import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { palette } from '../../map/palette.ts'
import { shownZone } from '../../parts/preferences.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { time } from '../../parts/times.ts'
import { useLoad } from '../../parts/use-load.ts'

type Minute = components['schemas']['SystemMinute']
type Value = (minute: Minute) => number | null

const EVERY_MS = 60_000
const HEIGHT = 130

const PLOTS: readonly { readonly title: string; readonly value: Value }[] = [
  { title: 'Accepted positions a minute', value: ({ accepted }) => accepted },
  { title: 'Refused reports a minute', value: ({ refused }) => refused },
  { title: 'Behind, seconds', value: ({ lag }) => lag?.seconds ?? null },
  { title: 'Dead letters', value: ({ deadLetters }) => deadLetters },
]

/** The last hour, minute by minute. */
export function History() {
  const { data, failure, reload } = useLoad(
    (signal) => api.get('/system/history', { query: { minutes: 60 }, signal }),
    [],
    { everyMs: EVERY_MS },
  )
  if (data === undefined) {
    return failure === undefined ? <Loading /> : <Failed failure={failure} onRetry={reload} />
  }
  return (
    <div class="history">
      {PLOTS.map(({ title, value }) => (
        <Plot key={title} title={title} minutes={data.items} value={value} />
      ))}
    </div>
  )
}

function Plot({
  title,
  minutes,
  value,
}: {
  title: string
  minutes: readonly Minute[]
  value: Value
}) {
  const host = useRef<HTMLDivElement>(null)
  const colours = palette.value
  const zone = shownZone()

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
        cursor: { show: false },
        scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [
          {
            ...axis,
            size: 30,
            values: (_, marks) => marks.map((mark) => time(mark * 1_000, zone).slice(0, 5)),
          },
          { ...axis, size: 52 },
        ],
        series: [{}, { stroke: colours.accent, width: 1.5, points: { show: false } }],
      },
      [minutes.map(({ start }) => Date.parse(start) / 1_000), minutes.map(value)],
      element,
    )
    const resized = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [minutes, colours, zone])

  const known = minutes.flatMap((minute) => value(minute) ?? [])
  const words = known.length === 0 ? 'nothing known' : `at most ${Math.max(...known)}`
  return (
    <figure class="card history-plot">
      <figcaption>{title}</figcaption>
      <div ref={host} role="img" aria-label={`${title} over the last hour: ${words}`} />
    </figure>
  )
}
