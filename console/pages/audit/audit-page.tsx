import { Fragment } from 'preact'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { addressOf } from '../../core/address.ts'
import { numberText } from '../../core/measures.ts'
import { useNamesOf } from '../../live/names.ts'
import { may } from '../../live/session.ts'
import {
  Filters,
  FilterPick,
  FilterRange,
  FilterSelect,
  FilterText,
  NoMatch,
} from '../../ui/filters.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import type { PickOption } from '../../ui/pick.tsx'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { formatMoment } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { ACTIONS, sentenceOf, type Sentence } from './audit-words.ts'

const ACTION_OPTIONS = Object.entries(ACTIONS).map(
  ([action, did]) => [action, did.charAt(0).toUpperCase() + did.slice(1)] as const,
)

type Entry = components['schemas']['AuditEntry']

const FILTERS = ['operatorId', 'action', 'subjectId', 'from', 'to'] as const
type Filter = { readonly [N in (typeof FILTERS)[number]]?: string }

/** The account's audit: every action and its actor, newest first. */
export function AuditPage() {
  const filter = pickParameters(pageAddress.value.query, FILTERS)
  const list = usePages(
    (cursor, signal) => api.get('/audit', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const subjects = (kind: string) =>
    (list.items ?? []).flatMap(({ subject }) => (subject.kind === kind ? [subject.id] : []))
  const { operatorId } = filter
  useNamesOf('keys', subjects('key'))
  const chosen = operatorId === undefined ? [] : [operatorId]
  const names = useNamesOf(
    'operators',
    may('audit.read') ? [...chosen, ...subjects('operator')] : [],
  )
  return (
    <ListPage
      title="Audit"
      list={list}
      canRetry={may('audit.read')}
      columns={auditColumns(names)}
      keyOf={({ id }) => id}
      filters={may('audit.read') && <AuditFilters filter={filter} names={names} />}
      empty={
        Object.keys(filter).length > 0 ? (
          <NoMatch title="No entries match these filters" filters={FILTERS} />
        ) : (
          <Empty title="No entries yet">
            <p>Sign-ins and changes to keys, devices, operators and links appear here.</p>
          </Empty>
        )
      }
    />
  )
}

function AuditFilters({
  filter,
  names,
}: {
  filter: Filter
  /** The e-mails of operators, by id. */
  names: ReadonlyMap<string, string>
}) {
  const { operatorId } = filter
  return (
    <Filters label="Filter entries" isUsed={Object.keys(filter).length > 0}>
      <FilterPick
        names={['operatorId']}
        label="Operator"
        placeholder="All"
        words={operatorId === undefined ? '' : (names.get(operatorId) ?? operatorId)}
        find={findOperators}
      />
      <FilterSelect name="action" label="Action" options={ACTION_OPTIONS} value={filter.action} />
      <FilterText name="subjectId" label="Key or device id" value={filter.subjectId} />
      <FilterRange range={filter} />
    </Filters>
  )
}

const FOUND = 20

async function findOperators(typed: string, signal: AbortSignal): Promise<readonly PickOption[]> {
  const query = { limit: FOUND, ...(typed !== '' && { q: typed }) }
  const { items } = await api.get('/operators', { query, signal })
  return items.map(({ id, email }) => ({ value: id, words: email }))
}

/** `names`: the names of keys and operators, by id. */
function auditColumns(names: ReadonlyMap<string, string>): readonly Column<Entry>[] {
  return [
    { title: 'Time', cell: ({ at }) => <TimeCell at={at} /> },
    {
      title: 'What happened',
      isProse: true,
      cell: (entry) => <Happened entry={entry} names={names} />,
    },
    { title: 'IP address', cell: ({ address }) => <Isolated>{address}</Isolated> },
    {
      title: 'Raw entry',
      isProse: true,
      cell: (entry) => (
        <details>
          <summary>{entry.action}</summary>
          <pre>
            <Isolated>{JSON.stringify(entry, null, 2)}</Isolated>
          </pre>
        </details>
      ),
    },
  ]
}

function Happened({ entry, names }: { entry: Entry; names: ReadonlyMap<string, string> }) {
  const { did, subjects, others, more } = sentenceOf(entry, names, formatMoment)
  return (
    <>
      {entry.actor.kind === 'key' && 'The key '}
      <Isolated class="strong">{entry.actor.name}</Isolated> {did}
      {subjects.map((subject, n) => (
        <Fragment key={subject.name}>
          {n === 0 ? ' ' : ', '}
          <Subject {...subject} />
        </Fragment>
      ))}
      {others > 0 && ` and ${numberText(others)} more`}
      {more !== '' && (
        <>
          : <Isolated>{more}</Isolated>
        </>
      )}
      .
    </>
  )
}

function Subject({ name, path }: Sentence['subjects'][number]) {
  if (path === undefined) return <Isolated>{name}</Isolated>
  return (
    <a href={addressOf(path)}>
      <Isolated>{name}</Isolated>
    </a>
  )
}
