import { liveState } from '../../live/live.ts'
import { shownZone } from '../../ui/preferences.ts'
import { time } from '../../core/times.ts'

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
        ? `lost since ${time(state.since, shownZone()).slice(0, 5)}: trying again`
        : state.kind}
    </p>
  )
}
