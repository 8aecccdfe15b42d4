import { useMemo } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { numberText } from '../../core/measures.ts'
import { shownZone } from '../../ui/preferences.ts'
import { Loaded } from '../../ui/states.tsx'
import { TimePlot, type PlotData } from '../../ui/time-plot.tsx'
import { useLoad } from '../../ui/use-load.ts'

type Minute = components['schemas']['SystemMinute']
type Value = (minute: Minute) => number | null

const EVERY_MS = 60_000
const HEIGHT = 130

const PLOTS: readonly { readonly title: string; readonly value: Value }[] = [
  { title: 'Accepted positions per minute', value: ({ accepted }) => accepted },
  { title: 'Rejections per minute', value: ({ refused }) => refused },
  { title: 'Lag in seconds', value: ({ lag }) => lag?.seconds ?? null },
  { title: 'Dead letters', value: ({ deadLetters }) => deadLetters },
]

/** The last hour, minute by minute. */
export function History() {
  const minutes = useLoad(
    (signal) => api.get('/system/history', { query: { minutes: 60 }, signal }),
    [],
    { everyMs: EVERY_MS },
  )
  return (
    <Loaded of={minutes}>
      {({ items }) => (
        <div class="history tiles">
          {PLOTS.map(({ title, value }) => (
            <Plot key={title} title={title} minutes={items} value={value} />
          ))}
        </div>
      )}
    </Loaded>
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
  const data = useMemo<PlotData>(
    () => [minutes.map(({ start }) => Date.parse(start) / 1_000), minutes.map(value)],
    [minutes],
  )
  const known = minutes.flatMap((minute) => value(minute) ?? [])
  const words = known.length === 0 ? 'no data' : `at most ${numberText(Math.max(...known))}`
  return (
    <figure class="card history-plot box stack near">
      <figcaption>{title}</figcaption>
      <TimePlot
        data={data}
        zone={shownZone()}
        height={HEIGHT}
        label={`${title} over the last hour: ${words}`}
        isCount
      />
    </figure>
  )
}
