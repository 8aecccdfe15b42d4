import { KeyRound } from 'lucide'
import { api } from '../../api/client.ts'
import { may } from '../../live/rights.ts'
import { useDialog } from '../../ui/form-dialog.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { actionColumn } from '../../ui/table.tsx'
import { usePages } from '../../ui/use-pages.ts'
import { EditKey } from './edit-key.tsx'
import { KeyDevices } from './key-devices.tsx'
import { IdentifyKey } from './identify-key.tsx'
import { KEY_COLUMNS } from './key-columns.tsx'
import type { Key } from './key-words.ts'
import { NewKey } from './new-key.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import { addressOf } from '../../core/address.ts'
import './keys.css'

const CHANGES = [
  { word: 'Edit', Dialog: EditKey },
  { word: 'Rotate', Dialog: RotateKey },
  { word: 'Revoke', Dialog: RevokeKey, isDangerous: true },
]
const LOOKS = [{ word: 'Devices', Dialog: KeyDevices }]

/** A revoked key changes no more, and viewers change none. */
function actionsOn({ status }: Key) {
  return status === 'revoked' || !may('keys.edit') ? LOOKS : [...LOOKS, ...CHANGES]
}

export function KeysPage() {
  const list = usePages((cursor, signal) => api.get('/keys', { query: { cursor }, signal }), [])
  const { dialog, open } = useDialog(list.reload)
  const actions = actionColumn<Key>(
    ({ name }) => name,
    (key) =>
      actionsOn(key).map(({ Dialog, ...action }) => ({
        ...action,
        run: () => open((props) => <Dialog of={key} {...props} />),
      })),
  )
  return (
    <ListPage
      title="Keys"
      list={list}
      columns={[...KEY_COLUMNS, actions]}
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
              onClick={() => open((props) => <NewKey {...props} />)}
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
    <Empty title="There is no key yet" icon={KeyRound}>
      <p>
        Whatever sends reports needs one.{' '}
        {may('keys.edit') ? (
          <a href={addressOf('/connect')}>Connect a device</a>
        ) : (
          'Ask an admin of your account to create one.'
        )}
      </p>
    </Empty>
  )
}
