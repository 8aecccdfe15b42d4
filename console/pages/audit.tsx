import { api } from '../api/client.ts'
import { isAdmin } from '../api/session.ts'
import type { components } from '../api/schema.ts'
import { Isolated } from '../parts/isolated.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failed, FailedLine, Loading } from '../parts/states.tsx'
import { MoreButton, Table, type Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { usePages } from '../parts/use-pages.ts'

type Entry = components['schemas']['AuditEntry']

/** Who did what in the account, newest first. */
export function AuditPage() {
  const { items, failure, isLoading, reload, more } = usePages(
    (cursor, signal) => api.get('/audit', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  return (
    <Page
      title="Audit"
      wide
      actions={
        <button type="button" disabled={isLoading} onClick={reload}>
          Refresh
        </button>
      }
    >
      {failure !== undefined && items !== undefined && (
        <FailedLine failure={failure} onRetry={reload} />
      )}
      {items === undefined ? (
        failure === undefined ? (
          <Loading />
        ) : (
          <Failed failure={failure} {...(isAdmin.value && { onRetry: reload })} />
        )
      ) : items.length === 0 ? (
        <Empty title="Nothing has been done yet">
          <p>What operators change (keys, devices, operators) is listed here.</p>
        </Empty>
      ) : (
        <>
          <Table caption="Audit" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
          <MoreButton more={more} isLoading={isLoading} />
        </>
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Who',
    cell: ({ actor }) => (
      <>
        {actor.kind === 'key' && <span class="quiet">key </span>}
        <Isolated>{actor.name}</Isolated>
      </>
    ),
  },
  { title: 'Did', cell: ({ action }) => action },
  {
    title: 'To',
    cell: ({ subject }) => (
      <>
        <span class="quiet">{subject.kind} </span>
        <Isolated>{subject.id}</Isolated>
      </>
    ),
  },
  {
    title: 'What was set',
    cell: ({ details }) =>
      details === null ? (
        <span class="quiet">–</span>
      ) : (
        <code>
          <Isolated>{JSON.stringify(details)}</Isolated>
        </code>
      ),
  },
  { title: 'From', cell: ({ address }) => <Isolated>{address}</Isolated> },
]
