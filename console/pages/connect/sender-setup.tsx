import { CopyButton } from '../../parts/copy-button.tsx'
import { handoffUrl } from './handoff.ts'
import { QrCode } from './qr-code.tsx'
import { SENDERS, type Setup } from './senders.ts'

/** Choosing what sends, and what to put into it. */
export function SenderSetup({
  setup,
  sender,
  choose,
  secret,
}: {
  setup: Setup
  sender: string
  choose: (sender: string) => void
  /** Undefined where the page does not have it (any more): then a placeholder stands there. */
  secret: string | undefined
}) {
  const chosen = SENDERS.find(({ id }) => id === sender) ?? SENDERS[0]
  if (chosen === undefined) return null
  return (
    <>
      <fieldset class="senders">
        <legend class="unseen">What sends</legend>
        {SENDERS.map(({ id, name }) => (
          <label key={id} class="sender">
            <input
              type="radio"
              name="sender"
              value={id}
              checked={id === chosen.id}
              onChange={() => choose(id)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <p>{chosen.how}</p>
      {secret === undefined && (
        <p class="quiet">
          Where <code>{setup.key}</code> stands, put in the secret.
        </p>
      )}
      <div class="snippets">
        {chosen.snippets(setup).map(({ title, text }) => (
          <figure key={title} class="snippet">
            <figcaption>
              <span>{title}</span>
              <CopyButton text={text} what={title} />
            </figcaption>
            <pre dir="ltr" tabIndex={0} aria-label={title}>
              <code>{text}</code>
            </pre>
          </figure>
        ))}
      </div>
      {secret !== undefined && <OnPhone setup={{ ...setup, key: secret }} sender={chosen.id} />}
    </>
  )
}

function OnPhone({ setup, sender }: { setup: Setup; sender: string }) {
  const { origin, hostname } = location
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname)
  return (
    <details>
      <summary>Open this on a phone</summary>
      <div class="on-phone">
        <QrCode text={handoffUrl(origin, { ...setup, sender })} label="QR code with this set-up" />
        <div>
          <p>
            Scan it with the phone’s camera. The key stands in the part of the address that browsers
            do not send: no server sees it. Whoever photographs the code has the key.
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
