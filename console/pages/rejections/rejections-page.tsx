import { useEffect, useState } from 'preact/hooks'
import { CircleCheck } from 'lucide'
import { api } from '../../api/client.ts'
import { useNamesOf } from '../../live/names.ts'
import { onStreamEvent, startLive } from '../../live/live.ts'
import { announce } from '../../ui/announcements.tsx'
import {
  NoMatch,
  Filters,
  FilterPick,
  FilterRange,
  FilterSelect,
  FilterText,
} from '../../ui/filters.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import {
  addRejection,
  prependNewest,
  groupRejections,
  countReports,
  ERROR_NAMES,
  causeOf,
  remedyOf,
  type Rejection,
  type ShownRejections,
  type RejectionGroup,
} from './rejections.ts'
import { RejectionTotals } from './rejection-counts.tsx'
import { findKeys } from '../keys/find-keys.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { addressOf, devicePath } from '../../core/address.ts'
import { numberText } from '../../core/measures.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time, TimeCell } from '../../ui/time.tsx'
import { KeyLink } from '../keys/key-parts.tsx'

const FILTERS = ['keyId', 'deviceId', 'error', 'from', 'to'] as const

/** Rejected reports and the reasons, live. */
export function RejectionsPage() {
  const filter = pickParameters(pageAddress.value.query, FILTERS) as ShownRejections
  const list = usePages(
    (cursor, signal) => api.get('/rejections', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const newest = useNewest(filter)
  const items = list.items && prependNewest(newest, list.items)
  const chosen = filter.keyId === undefined ? [] : [filter.keyId]
  const names = useNamesOf('keys', [...chosen, ...(items ?? []).map(({ keyId }) => keyId)])

  return (
    <ListPage
      title="Rejections"
      list={{ ...list, items: items && groupRejections(items) }}
      columns={rejectionColumns(names)}
      keyOf={({ latest }) => latest.rejectionId}
      filters={<RejectionFilters filter={filter} names={names} />}
      empty={<Nothing isFiltered={Object.keys(filter).length > 0} />}
      above={<RejectionTotals filter={filter} listed={countReports(items ?? [])} />}
    />
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="No rejections in the last 7 days" icon={CircleCheck}>
        <p>When a report is rejected, it appears here with the reason and what was sent.</p>
      </Empty>
    )
  }
  return (
    <NoMatch title="No rejections match these filters" filters={FILTERS}>
      <p>Rejected reports are kept for 7 days.</p>
    </NoMatch>
  )
}

/** The rejections from the stream since the filter was chosen, and those it may have missed. */
function useNewest(filter: ShownRejections): readonly Rejection[] {
  const [newest, setNewest] = useState<readonly Rejection[]>([])
  useEffect(() => {
    const ending = new AbortController()
    const add = (next: Rejection) => setNewest((before) => addRejection(before, next, filter))
    setNewest([])
    startLive()
    const stop = onStreamEvent((name, data) => {
      if (name === 'opened') {
        // Rejections are not replayed. If they cannot be read, the list reports it.
        api
          .get('/rejections', { query: filter, signal: ending.signal })
          .then(({ items }) => items.toReversed().forEach(add))
          .catch(() => undefined)
      }
      if (name !== 'rejection') return
      add(data as Rejection)
      announce('A report was rejected')
    })
    return () => {
      stop()
      ending.abort()
    }
  }, [JSON.stringify(filter)])
  return newest
}

function RejectionFilters({
  filter,
  names,
}: {
  filter: ShownRejections
  /** The names of keys, by id. */
  names: ReadonlyMap<string, string>
}) {
  const { keyId, deviceId, error, ...range } = filter
  return (
    <Filters label="Filter rejections" isUsed={Object.keys(filter).length > 0}>
      <FilterPick
        names={['keyId']}
        label="Key"
        placeholder="All"
        words={keyId === undefined ? '' : (names.get(keyId) ?? keyId)}
        find={findKeys}
      />
      <FilterSelect
        name="error"
        label="Reason"
        options={Object.entries(ERROR_NAMES)}
        value={error}
      />
      <FilterText name="deviceId" label="Device id" value={deviceId} />
      <FilterRange range={range} />
    </Filters>
  )
}

/** `names`: the names of keys, by id. */
function rejectionColumns(names: ReadonlyMap<string, string>): readonly Column<RejectionGroup>[] {
  return [
    {
      title: 'Time',
      cell: ({ latest, count, firstAt }) => (
        <>
          <TimeCell at={latest.receivedAt} />
          {count > 1 && (
            <div class="note">
              since <Time at={firstAt} />
            </div>
          )}
        </>
      ),
    },
    {
      title: 'Reason',
      isProse: true,
      cell: ({ latest }) => (
        <>
          <Isolated>{causeOf(latest)}</Isolated> {remedyOf(latest)}{' '}
          <code class="note">{latest.error}</code>
        </>
      ),
    },
    { title: 'Reports', isNumber: true, cell: ({ count }) => numberText(count) },
    { title: 'Device', cell: ({ latest }) => <Device id={latest.deviceId} /> },
    {
      title: 'Key',
      cell: ({ latest: { keyId } }) => (
        <KeyLink of={{ id: keyId, name: names.get(keyId) ?? keyId }} />
      ),
    },
    { title: 'What was sent', isProse: true, cell: ({ latest }) => <Body text={latest.body} /> },
  ]
}

function Device({ id }: { id: string | undefined }) {
  if (id === undefined) return <span class="quiet">unknown</span>
  return (
    <a href={addressOf(devicePath(id))}>
      <Isolated>{id}</Isolated>
    </a>
  )
}

function Body({ text }: { text: string | undefined }) {
  if (text === undefined) return <span class="quiet">not kept</span>
  return (
    <details>
      <summary>{`${new TextEncoder().encode(text).length} bytes`}</summary>
      <pre>
        <Isolated>{text}</Isolated>
      </pre>
      <CopyButton text={text} what="body" />
    </details>
  )
}
