import { signal } from '@preact/signals'
import type { ApiFailure } from './api/failure.ts'
import { me, startSession } from './api/session.ts'
import { toFailure } from './api/failure.ts'
import { Frame } from './frame.tsx'
import { OpenShare } from './open-page.tsx'
import { SHARE_PAGE } from './pages.ts'
import { place } from './parts/router.ts'
import { SignInPage } from './pages/sign-in.tsx'
import { RenewSession } from './pages/renew-session.tsx'
import { ChangePassword } from './pages/change-password.tsx'
import { SessionEnds } from './session-ends.tsx'
import { Announcer } from './parts/announcer.tsx'
import { ShortcutHelp } from './parts/shortcuts.tsx'
import { Failed, Loading } from './parts/states.tsx'

/** Why the service has not answered who is signed in. */
export const startFailure = signal<ApiFailure | undefined>(undefined)

export function App() {
  return (
    <>
      <Content />
      <SessionEnds />
      <ChangePassword />
      <RenewSession />
      <ShortcutHelp />
      <Announcer />
    </>
  )
}

function Content() {
  if (place.value.path === SHARE_PAGE.path) return <OpenShare />
  if (me.value === null) return <SignInPage />
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
