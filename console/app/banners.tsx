import { Send } from 'lucide'
import { addressOf } from '../core/address.ts'
import { may } from '../live/session.ts'
import { readSubscriptions, troubled } from '../live/subscriptions.ts'
import { SosBanner } from '../pages/events/sos-banner.tsx'
import { Icon } from '../ui/icon.tsx'
import { Isolated } from '../ui/isolated.tsx'
import { useLoad } from '../ui/use-load.ts'

/** Lines above the content of every page. */
export function Banners() {
  return (
    <div class="banners">
      <SosBanner />
      <TroubleBanner />
    </div>
  )
}

const READ_EVERY_MS = 30_000

/** Failing notifications, on every page, for operators who can do something about them. */
function TroubleBanner() {
  return may('subscriptions.edit') ? <Trouble /> : null
}

function Trouble() {
  useLoad(readSubscriptions, [], { everyMs: READ_EVERY_MS })
  const [first, ...others] = troubled.value
  if (first === undefined) return null
  const state = first.state === 'disabled' ? 'is disabled' : 'is failing'
  return (
    <div class="notice warn row" role="status">
      <Icon of={Send} small />
      <p>
        {others.length === 0 ? (
          <>
            The notification <Isolated class="strong">{first.name}</Isolated> {state}.
          </>
        ) : (
          `${others.length + 1} notifications are failing or disabled.`
        )}
      </p>
      <a
        class="button small"
        href={addressOf(others.length === 0 ? `/notifications/${first.id}` : '/notifications')}
      >
        Show
      </a>
    </div>
  )
}
