import { useEffect, useState } from 'preact/hooks'
import { CircleCheck } from 'lucide'
import { api } from '../../api/client.ts'
import { onStreamEvent, startLive } from '../../live/live.ts'
import { announce } from '../../parts/announcer.tsx'
import { Page } from '../../parts/page.tsx'
import { place, setQuery } from '../../parts/router.ts'
import { Empty, Failed, FailedLine, Loading } from '../../parts/states.tsx'
import { MoreButton, Table } from '../../parts/table.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { usePages } from '../../parts/use-pages.ts'
import {
  addRejection,
  withNewest,
  type Rejection,
  type RejectionFilter,
} from './merge-rejections.ts'
import { rejectionColumns } from './rejection-columns.tsx'
import { RejectionFilters } from './rejection-filters.tsx'

/** Why reports were not taken, live. */
export function RejectionsPage() {
  const filter = filterIn(place.value.query)
  const { items, failure, isLoading, reload, more } = usePages(
    (cursor, signal) =>
      api.get('/rejections', { query: { ...filter, ...(cursor && { cursor }) }, signal }),
    [filter],
  )
  const newest = useNewest(filter)
  const keys = useLoad((signal) => api.get('/keys', { query: { limit: 1_000 }, signal }), [])
  const names = new Map(keys.data?.items.map(({ id, name }) => [id, name]))
  const isFiltered = Object.keys(filter).length > 0

  return (
    <Page
      title="Rejections"
      wide
      actions={
        <button type="button" disabled={isLoading} onClick={reload}>
          Refresh
        </button>
      }
    >
      <RejectionFilters filter={filter} keys={keys.data?.items ?? []} />
      {failure !== undefined && items !== undefined && (
        <FailedLine failure={failure} onRetry={reload} />
      )}
      {items === undefined ? (
        failure === undefined ? (
          <Loading />
        ) : (
          <Failed failure={failure} onRetry={reload} />
        )
      ) : items.length + newest.length === 0 ? (
        <Nothing isFiltered={isFiltered} />
      ) : (
        <>
          <Table
            caption="Rejections"
            columns={rejectionColumns(names)}
            rows={withNewest(newest, items)}
            keyOf={({ rejectionId }) => rejectionId}
          />
          <MoreButton more={more} isLoading={isLoading} />
        </>
      )}
    </Page>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="Nothing was refused in the last 7 days" icon={CircleCheck}>
        <p>A refused report appears here at once, with the reason and what was sent.</p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing of this kind was refused" icon={CircleCheck}>
      <p>Refused reports are kept for 7 days.</p>
      <button
        type="button"
        onClick={() => setQuery({ keyId: undefined, deviceId: undefined, error: undefined })}
      >
        Show all
      </button>
    </Empty>
  )
}

/** What the stream has told since the filter was chosen. */
function useNewest(filter: RejectionFilter): readonly Rejection[] {
  const [newest, setNewest] = useState<readonly Rejection[]>([])
  useEffect(() => {
    setNewest([])
    startLive()
    return onStreamEvent((name, data) => {
      if (name !== 'rejection') return
      setNewest((before) => addRejection(before, data as Rejection, filter))
      announce('A report was refused')
    })
  }, [JSON.stringify(filter)])
  return newest
}

function filterIn(query: URLSearchParams): RejectionFilter {
  const names = ['keyId', 'deviceId', 'error'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}
