import {
  MOST_RESENT_IN_CALL,
  MOST_RESENT_WAITING,
} from '../../../schemas/subscriptions/resend-limits.ts'
import { api } from '../../api/client.ts'
import { sentence, toFailure } from '../../core/failure.ts'
import { toast } from '../../ui/announcements.tsx'
import { useAction } from '../../ui/use-action.ts'

/** Resends the items of a delivery, in as many calls as necessary. */
export function SendAgain({
  id,
  ids,
  onSent,
}: {
  id: string
  ids: readonly string[]
  onSent: () => void
}) {
  const { run, isRunning } = useAction(async () => {
    // The service sends them in this order too, so a part sent early comes first.
    const sorted = [...ids].sort()
    let sent = 0
    try {
      while (sent < sorted.length) {
        const part = sorted.slice(sent, sent + MOST_RESENT_IN_CALL)
        await api.post('/subscriptions/{id}/resend', { path: { id }, body: { ids: part } })
        sent += part.length
      }
      toast('It will be resent before the rest.')
    } catch (thrown) {
      const why = sentence(toFailure(thrown).message)
      const some = `Only ${sent} of ${ids.length} items will be resent. `
      toast(sent === 0 ? why : some + why, { isFault: true })
    }
    onSent()
  })
  if (ids.length > MOST_RESENT_WAITING) {
    return (
      <span class="note">
        More than {MOST_RESENT_WAITING} items cannot be resent individually. Rewind to this time
        instead.
      </span>
    )
  }
  return (
    <button type="button" class="small" disabled={isRunning} onClick={run}>
      Send again
    </button>
  )
}
