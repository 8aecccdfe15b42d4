import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Navigation2 } from 'lucide'
import { api } from '../../api/client.ts'
import { fieldFailure } from '../../core/failure.ts'
import { me, renewing, signIn, signOut, staySignedIn } from '../../live/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { expectArrival, useTitle } from '../../ui/page.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import './sign-in.css'

export function SignInPage() {
  useTitle('Sign in')
  useEffect(() => expectArrival, [])
  return (
    <main class="alone">
      <Backdrop />
      <div class="card sign-in box stack">
        <p class="brand row tight">
          <Icon of={Navigation2} /> GPS console
        </p>
        <h1>Sign in</h1>
        <Form
          button="Sign in"
          submit={({ email = '', password = '' }) => signIn(email.trim(), password)}
        >
          <Field name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
          <Field name="password" label="Password" type="password" autoComplete="current-password" />
        </Form>
        <details class="note">
          <summary>First time here?</summary>
          <p>
            The first start of the service printed an e-mail and a password in the terminal where it
            was started, below “Sign in as”. They were shown only once. Where the service was given{' '}
            <code>ADMIN_EMAIL</code> and <code>ADMIN_PASSWORD</code>, those are valid.
          </p>
          <p>
            Password lost? An admin of your account can set a new one. So does{' '}
            <code>npm run set-password</code> on the server.
          </p>
        </details>
      </div>
    </main>
  )
}

/** Loads the map last: signing in does not need it, the next page does. */
function Backdrop() {
  const [Map, setMap] = useState<ComponentType>()
  useEffect(() => {
    let isOpen = true
    import('../../map/world-backdrop.tsx')
      .then(({ WorldBackdrop }) => isOpen && setMap(() => WorldBackdrop))
      .catch(() => undefined)
    return () => {
      isOpen = false
    }
  }, [])
  return Map === undefined ? null : <Map />
}

/** The page on which an operator with a generated password chooses a new one. */
export function FirstPasswordPage() {
  useTitle('Change your password')
  useEffect(() => {
    // Browsers obey `autofocus` only once, and signing in has used it.
    document.querySelector('input')?.focus()
    return expectArrival
  }, [])
  return (
    <main class="alone">
      <div class="card sign-in box stack">
        <h1>Change your password</h1>
        <p>Your password was generated for you. Choose your own to continue.</p>
        <Form
          button="Change password"
          submit={async (values) => {
            await changePassword(values)
            await staySignedIn()
          }}
        >
          <PasswordFields />
        </Form>
      </div>
    </main>
  )
}

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

function changePassword({ current = '', next = '', again = '' }: Record<string, string>) {
  if (next === current) throw fieldFailure('next', 'Choose a password other than the current one.')
  if (next !== again) throw fieldFailure('again', 'The passwords differ.')
  return api.post('/session/password', { body: { current, next } })
}

function PasswordFields() {
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
