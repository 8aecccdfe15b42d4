import { liveState } from '../../live/live.ts'
import { shownClock } from '../../ui/shown.ts'

/** Whether the data shown is up to date. */
export function LiveBar() {
  const state = liveState.value
  return (
    <p
      class={`live-bar note ${state.kind.replace(' ', '-')}`}
      role="status"
      aria-label="Connection"
    >
      <span class="live-dot" aria-hidden="true" />
      {state.kind === 'lost'
        ? `disconnected since ${shownClock(state.since, { hasSeconds: false })}, reconnecting`
        : state.kind}
    </p>
  )
}
