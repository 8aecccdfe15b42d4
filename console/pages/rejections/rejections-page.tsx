import { useEffect, useState } from 'preact/hooks'
import { CircleCheck } from 'lucide'
import { api } from '../../api/client.ts'
import { onStreamEvent, startLive } from '../../live/live.ts'
import { announce } from '../../ui/announcer.tsx'
import { NoMatch } from '../../ui/filters.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { namedIn, place } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import {
  addRejection,
  withNewest,
  type Rejection,
  type ShownRejections,
} from './merge-rejections.ts'
import { alike, reportsIn } from './rejection-words.ts'
import { rejectionColumns } from './rejection-columns.tsx'
import { RejectionTotals } from './rejection-counts.tsx'
import { RejectionFilters } from './rejection-filters.tsx'

const FILTERS = ['keyId', 'deviceId', 'error', 'from', 'to'] as const

/** Rejected reports and the reasons, live. */
export function RejectionsPage() {
  const filter = namedIn(place.value.query, FILTERS) as ShownRejections
  const list = usePages(
    (cursor, signal) => api.get('/rejections', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const newest = useNewest(filter)
  const keys = useLoad((signal) => api.get('/keys', { query: { limit: 1_000 }, signal }), [])
  const names = new Map(keys.data?.items.map(({ id, name }) => [id, name]))
  const items = list.items && withNewest(newest, list.items)

  return (
    <ListPage
      title="Rejections"
      list={{ ...list, items: items && alike(items) }}
      columns={rejectionColumns(names)}
      keyOf={({ latest }) => latest.rejectionId}
      filters={<RejectionFilters filter={filter} keys={keys.data?.items ?? []} />}
      empty={<Nothing isFiltered={Object.keys(filter).length > 0} />}
      above={<RejectionTotals filter={filter} names={names} listed={reportsIn(items ?? [])} />}
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

/**
 * The rejections that the stream has sent since the filter was chosen, and those that it may have
 * missed.
 */
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
