import { Clock } from 'lucide'
import { askToSignIn, me, renewing, staySignedIn } from '../live/session.ts'
import { clockTime, endOfSession } from '../core/session-end.ts'
import { now } from '../ui/clock.ts'
import { Icon } from '../ui/icon.tsx'
import { FailedLine } from '../ui/states.tsx'
import { useAction } from '../ui/use-action.ts'

/** Warns two minutes before the session ends, and offers to extend it. */
export function SessionEnds() {
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
