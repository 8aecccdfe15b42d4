import { Clock } from 'lucide'
import { askToSignIn, me, renewing, staySignedIn } from './api/session.ts'
import { clockTime, endOfSession } from './api/session-end.ts'
import { now } from './parts/clock.ts'
import { Icon } from './parts/icon.tsx'
import { FailedLine } from './parts/states.tsx'
import { useAction } from './parts/use-action.ts'

/** Warns two minutes before the session ends, and offers to extend it. */
export function SessionEnds() {
  const stay = useAction(staySignedIn)
  if (!me.value || renewing.value) return null
  const end = endOfSession(me.value, now.value)
  if (end === undefined) return null
  return (
    <div class="notice warn session-ends" role="status">
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
