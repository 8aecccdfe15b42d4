import { signal } from '@preact/signals'
import type { ApiFailure } from '../core/failure.ts'
import { me, startSession } from '../live/session.ts'
import { toFailure } from '../core/failure.ts'
import { Frame } from './frame.tsx'
import { OpenShare } from './open-page.tsx'
import { SHARE_PAGE } from './pages.ts'
import { place } from '../ui/router.ts'
import { FirstPasswordPage } from '../pages/sign-in/first-password-page.tsx'
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx'
import { RenewSession } from '../pages/sign-in/renew-session.tsx'
import { ChangePassword } from '../pages/sign-in/change-password.tsx'
import { SessionEnds } from './session-ends.tsx'
import { Announcer } from '../ui/announcer.tsx'
import { KeyHelp } from '../ui/keys.tsx'
import { UndoKey } from '../ui/undo-key.tsx'
import { Failed, Loading } from '../ui/states.tsx'

/** Why the service has not answered who is signed in. */
export const startFailure = signal<ApiFailure | undefined>(undefined)

export function App() {
  return (
    <>
      <Content />
      <SessionEnds />
      <ChangePassword />
      <RenewSession />
      <KeyHelp />
      <UndoKey />
      <Announcer />
    </>
  )
}

function Content() {
  if (place.value.path === SHARE_PAGE.path) return <OpenShare />
  if (me.value === null) return <SignInPage />
  if (me.value?.operator.mustChangePassword) return <FirstPasswordPage />
  if (me.value !== undefined) return <Frame />
  if (startFailure.value === undefined) return <Loading what="Opening the console" />
  return (
    <main class="alone">
      <Failed failure={startFailure.value} onRetry={retry} />
    </main>
  )
}

function retry(): void {
  startFailure.value = undefined
  startSession().catch((thrown: unknown) => (startFailure.value = toFailure(thrown)))
}
