import { api } from '../../api/client.ts'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Ago } from '../../ui/time.tsx'
import { DevicesOfKey } from './key-devices.tsx'
import type { Key } from './key-words.ts'

export function RevokeKey({
  of: { id, name, hint, lastUsedAt },
  ...props
}: DialogProps & { of: Key }) {
  return (
    <FormDialog
      {...props}
      title="Revoke key"
      button="Revoke key"
      danger
      submit={() => api.post('/keys/{id}/revoke', { path: { id } })}
      done="Key revoked. It stops working within 5 seconds."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> (<code>{hint}</code>) stops working within 5
        seconds, for good.{' '}
        {lastUsedAt === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Ago at={lastUsedAt} />.
          </>
        )}
      </p>
      <h3>Devices that report with it</h3>
      <DevicesOfKey keyId={id} />
    </FormDialog>
  )
}
