import { signal } from '@preact/signals'
import { api } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { me } from '../../live/session.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

export const passwordIsOpen = signal(false)

/** A form for changing one's own password. */
export function ChangePassword() {
  if (!passwordIsOpen.value || !me.value) return null
  return (
    <FormDialog
      title="Change your password"
      button="Change password"
      submit={changePassword}
      done="Password changed. Your other sessions have ended."
      onClose={() => (passwordIsOpen.value = false)}
    >
      <PasswordFields />
    </FormDialog>
  )
}

export function changePassword({ current = '', next = '', again = '' }: Record<string, string>) {
  if (next === current) throw faultAt('next', 'Choose a password other than the current one.')
  if (next !== again) throw faultAt('again', 'The passwords differ.')
  return api.post('/session/password', { body: { current, next } })
}

export function PasswordFields() {
  return (
    <>
      <Field
        name="current"
        label="Current password"
        type="password"
        autoComplete="current-password"
        autoFocus
      />
      <Field
        name="next"
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters, not the current password."
      />
      <Field name="again" label="New password again" type="password" autoComplete="new-password" />
    </>
  )
}
