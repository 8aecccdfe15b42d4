import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { figuresOf } from './figures.ts'
import { History } from './history.tsx'
import './system.css'

type Instance = components['schemas']['Instance']

/** Each service records its state every 10 s. */
const EVERY_MS = 10_000

/** The state of the service, over all its processes. */
export function SystemPage() {
  const system = useLoad((signal) => api.get('/system', { signal }), [], { everyMs: EVERY_MS })
  return (
    <Page title="System" wide>
      <Loaded of={system}>
        {(data) => (
          <>
            <dl class="tiles">
              {figuresOf(data).map(({ title, value, note, isBad }) => (
                <div key={title} class={`card figure box stack tight ${isBad ? 'bad' : ''}`}>
                  <dt>{title}</dt>
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
            <p class="quiet">
              Version {data.version},{' '}
              {data.mode === 'embedded'
                ? 'everything in one process'
                : 'separate services on Kafka and MongoDB'}
              . A process that has not been heard of for 30 seconds is left out.
            </p>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const COLUMNS: readonly Column<Instance>[] = [
  { title: 'Service', cell: ({ service }) => <span class="strong">{service}</span> },
  { title: 'Host', cell: ({ host }) => <Isolated>{host}</Isolated> },
  { title: 'Version', cell: ({ version }) => <Isolated>{version}</Isolated> },
  { title: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
  { title: 'Heard of', cell: ({ reportedAt }) => <Ago at={reportedAt} /> },
]
