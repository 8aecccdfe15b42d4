import { useEffect } from 'preact/hooks'
import { Share2 } from 'lucide'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated, IsolatedList } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import { minutesText } from '../../core/times.ts'
import { actionColumn, type Column } from '../../ui/table.tsx'
import { Time, TimeCell } from '../../ui/time.tsx'
import { NewShare } from './new-share.tsx'

type Share = components['schemas']['Share']

/** Lists the links that show devices to people without an account. */
export function SharesPage() {
  useEffect(startLive, [])
  watchWords()
  const list = usePages((cursor, signal) => api.get('/shares', { query: { cursor }, signal }), [])
  const { dialog, open } = useDialog(list.reload)
  // A device's page and its card on the map link here with the device to share.
  const isAsked = may('shares.edit') && pageAddress.value.query.has('device')
  const actions = actionColumn<Share>(
    ({ name }) => name,
    (share) => {
      const run = () => open((props) => <RevokeShare of={share} {...props} />)
      return share.status === 'expired' ? [] : [{ word: 'Revoke', run, isDangerous: true }]
    },
  )
  return (
    <ListPage
      title="Shared links"
      caption="Links"
      list={list}
      canRetry={may('shares.edit')}
      columns={[...COLUMNS, actions]}
      keyOf={({ id }) => id}
      actions={
        may('shares.edit') && (
          <button
            type="button"
            class="primary"
            onClick={() => open((props) => <NewShare {...props} />)}
          >
            New link
          </button>
        )
      }
      empty={
        <Empty title="No shared links" icon={Share2}>
          <p>
            A link shows some devices live, until a time that you choose, to anyone who has it. It
            needs no account and shows no ids.
          </p>
        </Empty>
      }
    >
      {dialog}
      {isAsked && <NewShare onDone={list.reload} onClose={() => setQuery({ device: undefined })} />}
    </ListPage>
  )
}

const COLUMNS: readonly Column<Share>[] = [
  { title: 'Name', cell: ({ name }) => <Isolated class="strong">{name}</Isolated> },
  {
    title: 'Devices',
    cell: ({ deviceIds }) => <IsolatedList most={3}>{deviceIds.map(nameOf)}</IsolatedList>,
  },
  {
    title: 'Expires',
    cell: ({ expiresAt, status }) => (
      <>
        <Time at={expiresAt} />
        {status === 'expired' && <span class="quiet"> · expired</span>}
      </>
    ),
  },
  {
    title: 'Trail',
    cell: ({ trailMinutes }) => (trailMinutes === 0 ? 'none' : minutesText(trailMinutes)),
  },
  { title: 'Created', cell: ({ createdAt }) => <TimeCell at={createdAt} /> },
]

/** The device's name, once the fleet is known. */
function nameOf(deviceId: string): string {
  return fleet.devices.get(deviceId)?.name ?? deviceId
}

function RevokeShare({ of: { id, name }, ...props }: DialogProps & { of: Share }) {
  return (
    <FormDialog
      {...props}
      title="Revoke link"
      button="Revoke link"
      danger
      submit={() => api.delete('/shares/{id}', { path: { id } })}
      done="Link revoked. It no longer shows anything."
    >
      <p>
        Whoever has <Isolated class="strong">{name}</Isolated> open sees nothing more within 5
        seconds. This cannot be undone.
      </p>
    </FormDialog>
  )
}
