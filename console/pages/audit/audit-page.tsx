import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { may } from '../../live/rights.ts'
import { Filters, FilterRange, FilterSelect, FilterText } from '../../ui/filters.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { namedIn, place } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { usePages } from '../../ui/use-pages.ts'

type Entry = components['schemas']['AuditEntry']

const FILTERS = ['operatorId', 'action', 'subjectId', 'from', 'to'] as const
type Filter = { readonly [N in (typeof FILTERS)[number]]?: string }

/** The account's audit: every action and its actor, newest first. */
export function AuditPage() {
  const filter = namedIn(place.value.query, FILTERS)
  const list = usePages(
    (cursor, signal) => api.get('/audit', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  return (
    <ListPage
      title="Audit"
      list={list}
      canRetry={may('audit.read')}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      filters={may('audit.read') && <AuditFilters filter={filter} />}
      empty={
        <Empty title="Nothing to see here">
          <p>
            What operators change (keys, devices, operators) is listed here, if no filter hides it.
          </p>
        </Empty>
      }
    />
  )
}

function AuditFilters({ filter }: { filter: Filter }) {
  const { data } = useLoad(
    (signal) => api.get('/operators', { query: { limit: 1_000 }, signal }),
    [],
  )
  const operators = data?.items ?? []
  return (
    <Filters label="Which entries" isUsed={Object.keys(filter).length > 0}>
      <FilterSelect
        name="operatorId"
        label="Who"
        options={operators.map(({ id, email }) => [id, email])}
        value={filter.operatorId}
      />
      <FilterText name="action" label="What, such as key.created" value={filter.action} />
      <FilterText name="subjectId" label="To what, its id" value={filter.subjectId} />
      <FilterRange range={filter} />
    </Filters>
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
    isProse: true,
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
