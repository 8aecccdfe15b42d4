import { signal } from '@preact/signals'
import { Clock } from 'lucide'
import { toFailure, type ApiFailure } from '../core/failure.ts'
import { clockTime, endOfSession } from '../core/session-rules.ts'
import { askToSignIn, me, renewing, startSession, staySignedIn } from '../live/session.ts'
import { Announcer, undoLatest } from '../ui/announcements.tsx'
import { now } from '../ui/clock.ts'
import { Icon } from '../ui/icon.tsx'
import { KeyHelp, useKeys } from '../ui/keys.tsx'
import { pageAddress } from '../ui/router.ts'
import { Failed, FailedLine, Loading } from '../ui/states.tsx'
import { useAction } from '../ui/use-action.ts'
import { useRetry } from '../ui/use-load.ts'
import {
  ChangePassword,
  FirstPasswordPage,
  RenewSession,
  SignInPage,
} from '../pages/sign-in/sign-in.tsx'
import { Frame } from './frame.tsx'
import { OpenShare } from './open-page.tsx'
import { SHARE_PAGE } from './pages.ts'

/** The failure of the first request, which fetches the signed-in operator. */
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
  useRetry(startFailure.value, retry)
  if (pageAddress.value.path === SHARE_PAGE.path) return <OpenShare />
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
  startSession().catch((thrown: unknown) => (startFailure.value = toFailure(thrown)))
}

/** Lets users undo by keyboard, because a toast's button is far from their hands. */
function UndoKey() {
  return undoLatest.value && <Key run={undoLatest.value} />
}

function Key({ run }: { run: () => void }) {
  useKeys({ z: { label: 'Undo the last change', run } })
  return null
}

/** Warns two minutes before the session ends, and offers to extend it. */
function SessionEnds() {
  const stay = useAction(staySignedIn)
  if (!me.value || renewing.value) return null
  const end = endOfSession(me.value, now.value)
  if (end === undefined) return null
  return (
    <div class="notice warn row session-ends" role="status">
      <Icon of={Clock} />
      <p>
        Your session ends in <span aria-hidden="true">{clockTime(end.leftMs)}</span>
        <span class="unseen">less than two minutes</span>
      </p>
      {end.canBeProlonged ? (
        <button type="button" disabled={stay.isRunning} onClick={stay.run}>
          Stay signed in
        </button>
      ) : (
        <button
          type="button"
          onClick={() => {
            askToSignIn().catch(() => undefined)
          }}
        >
          Sign in again
        </button>
      )}
      {stay.failure !== undefined && <FailedLine failure={stay.failure} />}
    </div>
  )
}
