import { api } from '../../api/client.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import type { components } from '../../api/schema.ts'

export type Share = components['schemas']['Share']

export function RevokeShare({
  of: { id, name },
  onDone,
  onClose,
}: {
  of: Share
  onDone: () => void
  onClose: () => void
}) {
  async function revoke() {
    await api.delete('/shares/{id}', { path: { id } })
    toast('The link shows nothing any more.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Revoke the link" onClose={onClose}>
      <p>
        Whoever has <Isolated class="strong">{name}</Isolated> open sees nothing more within 5
        seconds. It cannot be taken back.
      </p>
      <Form button="Revoke for good" danger submit={revoke} cancel={onClose}>
        {null}
      </Form>
    </Dialog>
  )
}
