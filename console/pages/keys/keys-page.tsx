import { KeyRound } from 'lucide'
import { api } from '../../api/client.ts'
import { may } from '../../live/session.ts'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { actionColumn } from '../../ui/table.tsx'
import { IdentifyKey } from './identify-key.tsx'
import { useKeyActions } from './key-actions.tsx'
import { KEY_COLUMNS } from './key-columns.tsx'
import type { Key } from './key-words.ts'
import { NewKeyDialog } from './new-key.tsx'
import { addressOf } from '../../core/address.ts'
import './keys.css'

export function KeysPage() {
  const list = usePages((cursor, signal) => api.get('/keys', { query: { cursor }, signal }), [])
  const { dialog, open, actionsOn } = useKeyActions(list.reload)
  return (
    <ListPage
      title="Keys"
      list={list}
      columns={[...KEY_COLUMNS, actionColumn<Key>(({ name }) => name, actionsOn)]}
      keyOf={({ id }) => id}
      actions={
        may('keys.edit') && (
          <>
            <button type="button" onClick={() => open((props) => <IdentifyKey {...props} />)}>
              Which key is this?
            </button>
            <button
              type="button"
              class="primary"
              onClick={() => open((props) => <NewKeyDialog {...props} />)}
            >
              New key
            </button>
          </>
        )
      }
      empty={<NoKeys />}
    >
      {dialog}
    </ListPage>
  )
}

function NoKeys() {
  return (
    <Empty title="No keys yet" icon={KeyRound}>
      <p>
        Every device or program that reports needs one.{' '}
        {may('keys.edit') ? (
          <a href={addressOf('/connect')}>Connect a device</a>
        ) : (
          'Ask an admin of your account to create one.'
        )}
      </p>
    </Empty>
  )
}
