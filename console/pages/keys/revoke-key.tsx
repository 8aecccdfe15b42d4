import { api } from '../../api/client.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Ago } from '../../ui/time.tsx'
import type { Key } from './key-words.ts'

export function RevokeKey({
  of: { id, name, hint, lastUsedAt },
  onDone,
  onClose,
}: {
  of: Key
  onDone: () => void
  onClose: () => void
}) {
  async function revoke() {
    await api.post('/keys/{id}/revoke', { path: { id } })
    toast('The key is revoked. It is refused everywhere within 5 s.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Revoke the key" onClose={onClose}>
      <p>
        <Isolated class="strong">{name}</Isolated> (<code>{hint}</code>) is refused within 5 seconds
        and for good.{' '}
        {lastUsedAt === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Ago at={lastUsedAt} />.
          </>
        )}
      </p>
      <Form button="Revoke for good" danger submit={revoke} cancel={onClose}>
        {null}
      </Form>
    </Dialog>
  )
}
