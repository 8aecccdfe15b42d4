import { Navigation2 } from 'lucide'
import { signIn } from '../../live/session.ts'
import { Field, Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useTitle } from '../../ui/page.tsx'
import './sign-in.css'

export function SignInPage() {
  useTitle('Sign in')
  return (
    <main class="alone">
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
