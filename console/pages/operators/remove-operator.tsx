import { api } from '../../api/client.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import type { DialogOfOne } from './operator.ts'

export function RemoveOperator({ of: { id, email }, onDone, onClose }: DialogOfOne) {
  async function remove() {
    await api.delete('/operators/{id}', { path: { id } })
    toast('The operator is removed and signed out everywhere.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Remove the operator" onClose={onClose}>
      <p>
        <Isolated class="strong">{email}</Isolated> is signed out at once and cannot sign in again.
        The audit keeps what they did.
      </p>
      <Form button="Remove" danger submit={remove} cancel={onClose}>
        {null}
      </Form>
    </Dialog>
  )
}
