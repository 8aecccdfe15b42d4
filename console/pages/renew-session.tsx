import { me, renewing, signIn, signOut } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Form } from '../parts/form.tsx'
import { FailedLine } from '../parts/states.tsx'
import { useAction } from '../parts/use-action.ts'

/** Asks for the password when the session has ended; the page behind the dialog stays unchanged. */
export function RenewSession() {
  const leave = useAction(signOut)
  if (!renewing.value || !me.value) return null
  const { email } = me.value.operator
  return (
    <Dialog title="Your session has ended">
      <p>Sign in again to go on where you are.</p>
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
