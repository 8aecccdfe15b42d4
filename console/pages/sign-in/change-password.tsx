import { signal } from '@preact/signals'
import { api } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { me } from '../../live/session.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'

export const passwordIsOpen = signal(false)

/** A form for changing one's own password. */
export function ChangePassword() {
  if (!passwordIsOpen.value || !me.value) return null
  const close = () => (passwordIsOpen.value = false)

  async function change({ current = '', next = '', again = '' }: Readonly<Record<string, string>>) {
    if (next !== again) throw faultAt('again', 'this is not the same password')
    await api.post('/session/password', { body: { current, next } })
    toast('Your password is changed. Your other sessions have ended.')
    close()
  }

  return (
    <Dialog title="Change your password" onClose={close}>
      <Form button="Change it" submit={change} cancel={close}>
        <Field
          name="current"
          label="Password now"
          type="password"
          autoComplete="current-password"
          autoFocus
        />
        <Field
          name="next"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters."
        />
        <Field
          name="again"
          label="New password again"
          type="password"
          autoComplete="new-password"
        />
      </Form>
    </Dialog>
  )
}
