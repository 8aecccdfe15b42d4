import { KeyRound } from 'lucide'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Secret } from '../../ui/secret.tsx'
import { Time } from '../../ui/time.tsx'
import type { KeyWithSecret } from './key-words.ts'

/** Shows a secret, only this once. */
export function KeepSecret({
  of: { name, key, previousValidUntil },
  title,
  onClose,
}: {
  of: KeyWithSecret
  title: string
  onClose: () => void
}) {
  return (
    <Dialog title={title}>
      <div class="notice warn">
        <Icon of={KeyRound} />
        <p>
          Copy the secret of <Isolated class="strong">{name}</Isolated> now. It is shown this once.
        </p>
      </div>
      <Secret text={key} />
      {previousValidUntil !== null && (
        <p>
          The secret before works until <Time at={previousValidUntil} />.
        </p>
      )}
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}
