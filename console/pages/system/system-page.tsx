import { useMemo } from 'preact/hooks'
import { CircleCheck, TriangleAlert } from 'lucide'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { addressOf } from '../../core/address.ts'
import { numberText } from '../../core/measures.ts'
import { readSubscriptions, troubled } from '../../live/subscriptions.ts'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { Loaded } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { TimePlot, type PlotData } from '../../ui/time-plot.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { figuresOf } from './figures.ts'
import { troublesOf, type Trouble } from './troubles.ts'
import './system.css'

type Instance = components['schemas']['Instance']

/** Each service records its state every 10 s. */
const EVERY_MS = 10_000

/** The state of the service, over all its processes. */
export function SystemPage() {
  const system = useLoad(readSystem, [], { everyMs: EVERY_MS })
  useLoad(readSubscriptions, [], { everyMs: EVERY_MS })
  return (
    <Page title="System" wide>
      <Loaded of={system}>
        {({ data, receivingSince }) => (
          <>
            <Verdict
              troubles={troublesOf(data, { now: now.value, receivingSince }, troubled.value)}
            />
            <dl class="figures tiles">
              {figuresOf(data, now.value).map(({ title, value, note, path }) => (
                <div key={title} class="card figure box stack tight">
                  <dt>{path === undefined ? title : <a href={addressOf(path)}>{title}</a>}</dt>
                  <dd>{value}</dd>
                  <dd class="note">{note}</dd>
                </div>
              ))}
            </dl>
            <h2>The last hour</h2>
            <History />
            <h2>Processes</h2>
            <Table
              caption="Processes"
              columns={COLUMNS}
              rows={data.instances}
              keyOf={({ service, host, startedAt }) => `${service} ${host} ${startedAt}`}
            />
            <p class="quiet">Processes that have not reported for 30 seconds are omitted.</p>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/**
 * The age of the data matters only if there is no backup. A device's times may come from an
 * imported history; the receipt of its first record does not.
 */
async function readSystem(signal: AbortSignal) {
  const data = await api.get('/system', { signal })
  if (data.lastBackupAt !== null) return { data, receivingSince: undefined }
  const { items: devices } = await api.get('/devices', {
    query: { sort: 'firstSeenAt', limit: 1 },
    signal,
  })
  if (devices[0] === undefined) return { data, receivingSince: undefined }
  const { items: records } = await api.get('/devices/{deviceId}/positions', {
    path: { deviceId: devices[0].deviceId },
    query: { order: 'asc', limit: 1 },
    signal,
  })
  return { data, receivingSince: records[0]?.receivedAt }
}

/** Shows one sentence if all is well, otherwise each problem with its remedy. */
function Verdict({ troubles }: { troubles: readonly Trouble[] }) {
  return (
    <section aria-label="Verdict" class="stack near">
      {troubles.length === 0 && (
        <p class="verdict row">
          <Icon of={CircleCheck} />
          All is well.
        </p>
      )}
      {troubles.map(({ wrong, todo, path }) => (
        <div key={wrong} class="notice warn row">
          <Icon of={TriangleAlert} />
          <p>
            <span class="strong">{wrong}</span>{' '}
            {path === undefined ? todo : <a href={addressOf(path)}>{todo}</a>}
          </p>
        </div>
      ))}
    </section>
  )
}

const COLUMNS: readonly Column<Instance>[] = [
  { title: 'Service', cell: ({ service }) => <span class="strong">{service}</span> },
  { title: 'Host', cell: ({ host }) => <Isolated>{host}</Isolated> },
  { title: 'Version', cell: ({ version }) => <Isolated>{version}</Isolated> },
  { title: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
  { title: 'Last seen', cell: ({ reportedAt }) => <Ago at={reportedAt} /> },
]

type Minute = components['schemas']['SystemMinute']
type MinuteValue = (minute: Minute) => number | null

const HISTORY_EVERY_MS = 60_000
const HEIGHT = 130

const PLOTS: readonly { readonly title: string; readonly value: MinuteValue }[] = [
  { title: 'Accepted positions per minute', value: ({ accepted }) => accepted },
  { title: 'Rejections per minute', value: ({ refused }) => refused },
  { title: 'Lag in seconds', value: ({ lag }) => lag?.seconds ?? null },
  { title: 'Dead letters', value: ({ deadLetters }) => deadLetters },
]

/** The last hour, minute by minute. */
function History() {
  const minutes = useLoad(
    (signal) => api.get('/system/history', { query: { minutes: 60 }, signal }),
    [],
    { everyMs: HISTORY_EVERY_MS },
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
  value: MinuteValue
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
        zone={readerZone()}
        height={HEIGHT}
        label={`${title} over the last hour: ${words}`}
        isCount
      />
    </figure>
  )
}
