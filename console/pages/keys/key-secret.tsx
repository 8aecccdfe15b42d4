import { Isolated } from '../../ui/isolated.tsx'
import { KeepSecret } from '../../ui/secret.tsx'
import { Time } from '../../ui/time.tsx'
import type { KeyWithSecret } from './key-words.ts'

/** Shows a key's secret, only this once. */
export function KeySecret({
  of: { name, key, previousValidUntil },
  ...props
}: {
  of: KeyWithSecret
  title: string
  onClose: () => void
}) {
  const notice = (
    <>
      Copy the secret of <Isolated class="strong">{name}</Isolated> now. It is shown only once.
    </>
  )
  return (
    <KeepSecret {...props} notice={notice} text={key}>
      {previousValidUntil !== null && (
        <p>
          The old secret works until <Time at={previousValidUntil} />.
        </p>
      )}
    </KeepSecret>
  )
}
