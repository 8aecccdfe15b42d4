import { staySignedIn } from '../../live/session.ts'
import { Form } from '../../ui/form.tsx'
import { useTitle } from '../../ui/page.tsx'
import { changePassword, PasswordFields } from './change-password.tsx'
import './sign-in.css'

/** Where an operator whose password was made for them chooses one. */
export function FirstPasswordPage() {
  useTitle('Change your password')
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
