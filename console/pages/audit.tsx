import { api } from '../api/client.ts'
import { isAdmin } from '../api/session.ts'
import type { components } from '../api/schema.ts'
import { Field } from '../parts/form.tsx'
import { Isolated } from '../parts/isolated.tsx'
import { Page } from '../parts/page.tsx'
import { place, setQuery } from '../parts/router.ts'
import { Empty, Failed, FailedLine, Loading } from '../parts/states.tsx'
import { MoreButton, Table, type Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { usePages } from '../parts/use-pages.ts'

type Entry = components['schemas']['AuditEntry']

/** Who did what in the account, newest first. */
export function AuditPage() {
  const filter = filterIn(place.value.query)
  const { items, failure, isLoading, reload, more } = usePages(
    (cursor, signal) =>
      api.get('/audit', { query: { ...filter, ...(cursor && { cursor }) }, signal }),
    [filter],
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
      {isAdmin.value && <Filters filter={filter} />}
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
        <Empty title="Nothing to see here">
          <p>
            What operators change (keys, devices, operators) is listed here, if no filter hides it.
          </p>
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

const FILTERS = [
  { name: 'action', label: 'What, such as key.created' },
  { name: 'subjectId', label: 'Id of the key, device or operator' },
] as const

type Filter = { readonly [N in (typeof FILTERS)[number]['name']]?: string }

function Filters({ filter }: { filter: Filter }) {
  return (
    <div class="filters" role="search" aria-label="Which entries">
      {FILTERS.map(({ name, label }) => (
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
    </div>
  )
}

function filterIn(query: URLSearchParams): Filter {
  return Object.fromEntries(
    FILTERS.flatMap(({ name }) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value]]
    }),
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
