import { may } from '../../live/session.ts'
import { useDialog } from '../../ui/form-dialog.tsx'
import type { MenuAction } from '../../ui/menu.tsx'
import { EditKey } from './edit-key.tsx'
import { KeyDevices } from './key-devices.tsx'
import type { Key } from './key-words.ts'
import { ReplaceSecret } from './replace-secret.tsx'
import { RevokeKey } from './revoke-key.tsx'

const CHANGES = [
  { word: 'Edit', Dialog: EditKey },
  { word: 'Replace secret', Dialog: ReplaceSecret },
  { word: 'Revoke', Dialog: RevokeKey, isDangerous: true },
]
const LOOKS = [{ word: 'Devices', Dialog: KeyDevices }]

/** The actions on a key, and the place of their dialogs: a revoked key changes no more, and viewers change none. */
export function useKeyActions(onDone: () => void) {
  const { dialog, open } = useDialog(onDone)
  const actionsOn = (key: Key): MenuAction[] =>
    (key.status === 'revoked' || !may('keys.edit') ? LOOKS : [...LOOKS, ...CHANGES]).map(
      ({ Dialog, ...action }) => ({
        ...action,
        run: () => open((props) => <Dialog of={key} {...props} />),
      }),
    )
  return { dialog, open, actionsOn }
}
