import type { Guide, Setup } from '../../guides/guide.ts'
import { Loading } from '../../ui/states.tsx'
import { GuideView } from './guide-view.tsx'
import { handoffUrl } from './handoff.ts'
import { QrCode } from './qr-code.tsx'

/** How to set the sender up. */
export function SenderSetup({
  setup,
  sender,
  guide,
  secret,
}: {
  setup: Setup
  sender: string
  /** The guide of that sender; undefined while it is loading. */
  guide: Guide | undefined
  /** Undefined if the page does not have the secret (any more): then it shows a placeholder. */
  secret: string | undefined
}) {
  return (
    <>
      {guide === undefined ? (
        <Loading lines={4} what="Loading the guide" />
      ) : (
        <GuideView guide={guide} setup={setup} hasSecret={secret !== undefined} />
      )}
      {secret !== undefined && <OnPhone setup={{ ...setup, key: secret }} sender={sender} />}
    </>
  )
}

function OnPhone({ setup, sender }: { setup: Setup; sender: string }) {
  const { origin, hostname } = location
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname)
  return (
    <details>
      <summary>Open this page on a phone</summary>
      <div class="on-phone tiles">
        <QrCode text={handoffUrl(origin, { ...setup, sender })} label="QR code with this page" />
        <div class="stack near">
          <p>
            Scan it with the phone’s camera to open this page there. The key is in the part of the
            address that browsers do not send, so no server sees it. Anyone who photographs the code
            has the key.
          </p>
          {isLocal && (
            <p class="fault">
              This page was opened as <code>{origin}</code>, which a phone cannot reach. Open it
              under the computer’s name or address first.
            </p>
          )}
        </div>
      </div>
    </details>
  )
}
