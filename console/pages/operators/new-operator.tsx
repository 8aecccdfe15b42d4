import { api } from '../../api/client.ts'
import { isPlatform } from '../../live/session.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import type { Operator } from './operator.ts'
import { RoleField } from './role-field.tsx'

export function NewOperator({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  async function make({
    email = '',
    password = '',
    role,
    platform,
  }: Readonly<Record<string, string>>) {
    const rights = {
      role: role as Operator['role'],
      ...(isPlatform.value && { platform: platform === 'yes' }),
    }
    await api.post('/operators', { body: { email: email.trim(), password, ...rights } })
    toast('The operator can sign in now. Tell them the password.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="New operator" onClose={onClose}>
      <Form button="Make the operator" submit={make} cancel={onClose}>
        <Field name="email" label="E-mail" type="email" autoComplete="off" autoFocus />
        <Field
          name="password"
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters. They can change it after signing in."
        />
        <RoleField />
      </Form>
    </Dialog>
  )
}
