import { api } from '../../api/client.ts'
import { isAdmin } from '../../live/session.ts'
import type { components } from '../../api/schema.ts'
import { Filters } from '../../ui/filters.tsx'
import { Field } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { PagedList } from '../../ui/paged-list.tsx'
import { RangeFields } from '../../ui/range-fields.tsx'
import { namedIn, place, setQuery } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
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
    (cursor, signal) =>
      api.get('/audit', { query: { ...filter, ...(cursor && { cursor }) }, signal }),
    [filter],
  )
  return (
    <Page
      title="Audit"
      wide
      actions={
        <button type="button" disabled={list.isLoading} onClick={list.reload}>
          Refresh
        </button>
      }
    >
      {isAdmin.value && <AuditFilters filter={filter} />}
      <PagedList
        list={list}
        canRetry={isAdmin.value}
        empty={
          <Empty title="Nothing to see here">
            <p>
              What operators change (keys, devices, operators) is listed here, if no filter hides
              it.
            </p>
          </Empty>
        }
      >
        {(entries) => (
          <Table caption="Audit" columns={COLUMNS} rows={entries} keyOf={({ id }) => id} />
        )}
      </PagedList>
    </Page>
  )
}

const TEXTS = [
  { name: 'action', label: 'What, such as key.created' },
  { name: 'subjectId', label: 'To what, its id' },
] as const

function AuditFilters({ filter }: { filter: Filter }) {
  const { operatorId = '' } = filter
  const { data } = useLoad(
    (signal) => api.get('/operators', { query: { limit: 1_000 }, signal }),
    [],
  )
  const operators = data?.items ?? []
  return (
    <Filters label="Which entries" isUsed={Object.keys(filter).length > 0}>
      <Field name="operatorId" label="Who">
        {(attributes) => (
          <select
            {...attributes}
            value={operatorId}
            onChange={({ currentTarget }) => setQuery({ operatorId: currentTarget.value })}
          >
            <option value="">All</option>
            {operatorId !== '' && !operators.some(({ id }) => id === operatorId) && (
              <option dir="auto" value={operatorId}>
                {operatorId}
              </option>
            )}
            {operators.map(({ id, email }) => (
              <option dir="auto" key={id} value={id}>
                {email}
              </option>
            ))}
          </select>
        )}
      </Field>
      {TEXTS.map(({ name, label }) => (
        <Field key={name} name={name} label={label}>
          {(attributes) => (
            <input
              {...attributes}
              type="search"
              maxLength={128}
              spellcheck={false}
              value={filter[name] ?? ''}
              onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <RangeFields range={filter} />
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
