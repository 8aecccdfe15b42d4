import { me, renewing, signIn, signOut } from '../../live/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'

/** Asks for the password when the session has ended; the page behind the dialog stays unchanged. */
export function RenewSession() {
  const leave = useAction(signOut)
  if (!renewing.value || !me.value) return null
  const { email } = me.value.operator
  return (
    <Dialog title="Your session has ended">
      <p>Sign in again to continue where you are.</p>
      <Form
        button="Sign in"
        submit={({ email = '', password = '' }) => signIn(email.trim(), password)}
      >
        <Field
          name="email"
          label="E-mail"
          type="email"
          autoComplete="username"
          defaultValue={email}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
          autoFocus
        />
      </Form>
      <button type="button" class="plain" disabled={leave.isRunning} onClick={leave.run}>
        Sign out instead
      </button>
      {leave.failure !== undefined && <FailedLine failure={leave.failure} />}
    </Dialog>
  )
}
