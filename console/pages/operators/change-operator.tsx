import { api } from '../../api/client.ts'
import { isPlatform } from '../../live/session.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import type { DialogOfOne, Operator } from './operator.ts'
import { RoleField } from './role-field.tsx'

export function ChangeOperator({ of, onDone, onClose }: DialogOfOne) {
  async function change({ password = '', role, platform }: Readonly<Record<string, string>>) {
    const body = {
      ...(role !== of.role && { role: role as Operator['role'] }),
      ...(password !== '' && { password }),
      ...(isPlatform.value &&
        (platform === 'yes') !== of.platform && { platform: platform === 'yes' }),
    }
    if (Object.keys(body).length > 0) {
      await api.patch('/operators/{id}', { path: { id: of.id }, body })
    }
    toast('The operator is changed.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Edit the operator" onClose={onClose}>
      <p>
        <Isolated class="strong">{of.email}</Isolated>
      </p>
      <Form button="Save" submit={change} cancel={onClose}>
        <RoleField of={of} />
        <Field
          name="password"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="Empty: it stays. A new one ends their sessions."
        />
      </Form>
    </Dialog>
  )
}
