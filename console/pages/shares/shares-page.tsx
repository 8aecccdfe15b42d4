import { useState } from 'preact/hooks'
import { Share2 } from 'lucide'
import { api } from '../../api/client.ts'
import { isAdmin } from '../../live/session.ts'
import { isolate, Isolated, IsolatedList, UnseenName } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { PagedList } from '../../ui/paged-list.tsx'
import { place, setQuery } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePages } from '../../ui/use-pages.ts'
import { NewShare } from './new-share.tsx'
import { RevokeShare, type Share } from './revoke-share.tsx'

type Open = { readonly kind: 'new' } | { readonly kind: 'revoke'; readonly share: Share }

/** Links that show some devices to people without an account. */
export function SharesPage() {
  // A device's page and its card on the map link here with the device to share.
  const [open, setOpen] = useState<Open | undefined>(() =>
    isAdmin.value && place.peek().query.has('device') ? { kind: 'new' } : undefined,
  )
  const list = usePages(
    (cursor, signal) => api.get('/shares', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  const close = () => {
    setOpen(undefined)
    setQuery({ device: undefined })
  }
  const dialog = { onDone: list.reload, onClose: close }
  return (
    <Page
      title="Share"
      wide
      actions={
        isAdmin.value && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
            New link
          </button>
        )
      }
    >
      <PagedList list={list} canRetry={isAdmin.value} empty={<NothingShared />}>
        {(shares) => (
          <Table
            caption="Links"
            columns={[...COLUMNS, actions((share) => setOpen({ kind: 'revoke', share }))]}
            rows={shares}
            keyOf={({ id }) => id}
          />
        )}
      </PagedList>
      {open?.kind === 'new' && <NewShare {...dialog} />}
      {open?.kind === 'revoke' && <RevokeShare of={open.share} {...dialog} />}
    </Page>
  )
}

function NothingShared() {
  return (
    <Empty title="Nothing is shared" icon={Share2}>
      <p>
        A link shows where some devices are, live and until a time that you choose, to whoever has
        it. It needs no account and shows no ids.
      </p>
    </Empty>
  )
}

const COLUMNS: readonly Column<Share>[] = [
  { title: 'Name', cell: ({ name }) => <Isolated class="strong">{name}</Isolated> },
  {
    title: 'Devices',
    cell: ({ deviceIds }) =>
      deviceIds.length > 3 ? (
        <span title={deviceIds.map(isolate).join('\n')}>{deviceIds.length} devices</span>
      ) : (
        <IsolatedList>{deviceIds}</IsolatedList>
      ),
  },
  {
    title: 'Until',
    cell: ({ expiresAt, status }) => (
      <>
        <Time at={expiresAt} />
        {status === 'expired' && <span class="quiet"> · expired</span>}
      </>
    ),
  },
  {
    title: 'Trail',
    cell: ({ trailMinutes }) => (trailMinutes === 0 ? 'none' : `${trailMinutes} min`),
  },
  { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

function actions(revoke: (share: Share) => void): Column<Share> {
  return {
    title: 'Change',
    cell: (share) =>
      share.status === 'expired' ? null : (
        <button type="button" class="small danger" onClick={() => revoke(share)}>
          Revoke
          <UnseenName>{share.name}</UnseenName>
        </button>
      ),
  }
}
