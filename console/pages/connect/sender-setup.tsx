import { encode } from 'uqr'
import {
  type CopyableText,
  type Guide,
  type Setup,
  type SetupLink,
  shell,
} from '../../guides/guide.ts'
import { commonTroubles } from '../../guides/guides.ts'
import { isLocalHost } from '../../core/address.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { may } from '../../live/session.ts'
import { Loading } from '../../ui/states.tsx'
import { ImportFiles } from './bring-history.tsx'
import { handoffUrl } from './handoff.ts'

export const NO_DEVICE = 'YOUR_DEVICE'

/** The instructions for setting up a sender. */
export function SenderSetup({
  setup,
  name,
  sender,
  guide,
  secret,
}: {
  setup: Setup
  name: string
  sender: string
  /** The guide of that sender; undefined while it is loading. */
  guide: Guide | undefined
  /** Undefined if the page does not have the secret: then it shows a placeholder. */
  secret: string | undefined
}) {
  return (
    <>
      {guide === undefined ? (
        <Loading lines={4} what="Loading the guide" />
      ) : (
        <GuideView guide={guide} setup={setup} hasSecret={secret !== undefined} />
      )}
      {secret !== undefined && (
        <OnPhone setup={{ ...setup, key: secret }} name={name} sender={sender} />
      )}
    </>
  )
}

function OnPhone({ setup, name, sender }: { setup: Setup; name: string; sender: string }) {
  const { origin, hostname } = location
  const isLocal = isLocalHost(hostname)
  return (
    <details>
      <summary>Open this page on a phone</summary>
      <div class="on-phone">
        <QrCode
          text={handoffUrl(origin, { ...setup, name, sender })}
          label="QR code with this page"
        />
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

/** The guide of one app, filled in. */
function GuideView({
  guide,
  setup,
  hasSecret,
}: {
  guide: Guide
  setup: Setup
  hasSecret: boolean
}) {
  const steps = guide.steps(setup)
  return (
    <div class="guide stack some">
      <p>
        <Prose text={guide.about} />
      </p>
      {guide.link !== undefined && hasSecret && (
        <ByLink link={guide.link(setup)} name={guide.name} />
      )}
      {guide.link !== undefined && <h3>By hand</h3>}
      {!hasSecret && (
        <p class="quiet">
          Replace <code>{setup.key}</code> with the secret.
        </p>
      )}
      <ol class="steps stack some">
        {steps.map(({ text, entries = [] }) => (
          <li key={text}>
            <p>
              <Prose text={text} />
            </p>
            {entries.length > 0 && (
              <div class="snippets stack some">
                {entries.map((entry) => (
                  <Snippet key={entry.title} {...entry} />
                ))}
              </div>
            )}
          </li>
        ))}
      </ol>
      {guide.known !== undefined && (
        <details>
          <summary>Known to work</summary>
          <div class="stack some">
            <p>
              <Prose text={guide.known.text} />
            </p>
            {guide.known.entries.map((entry) => (
              <Snippet key={entry.title} {...entry} />
            ))}
          </div>
        </details>
      )}
      <details>
        <summary>When nothing arrives</summary>
        <ul class="troubles stack near">
          {[...guide.troubles, ...commonTroubles(setup)].map((trouble) => (
            <li key={trouble}>
              <Prose text={trouble} />
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

/** A text to copy. */
function Snippet({ title, text }: CopyableText) {
  return (
    <figure class="snippet box">
      <figcaption class="row between">
        <span>{title}</span>
        <CopyButton text={text} what={title} />
      </figcaption>
      <pre dir="ltr" tabIndex={0} aria-label={title}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

function ByLink({ link: { text, url, onlyScanned }, name }: { link: SetupLink; name: string }) {
  return (
    <>
      <h3>By link</h3>
      <div class="on-phone">
        <QrCode text={url} label={`QR code that sets up ${name}`} />
        <div class="stack near">
          <p>
            <Prose text={text} />
          </p>
          {onlyScanned !== true && (
            <p>
              On that phone already? Tap{' '}
              <a href={url} rel="noreferrer">
                set up {name}
              </a>
              .
            </p>
          )}
          <p class="quiet">Anyone who photographs the code or gets the link has the key.</p>
          <div class="row">
            <CopyButton text={url} what="Link" />
          </div>
        </div>
      </div>
    </>
  )
}

/** The text of a guide: words between backticks are set as code. */
function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  )
}

/** A QR code, dark on light in both themes, because scanners require that. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

/** Imports a device's history from the previous system: on this page, or with a command. */
export function BringHistory({ address, deviceId }: { address: string; deviceId: string }) {
  const named = deviceId === '' ? NO_DEVICE : deviceId
  const command = `npm run import -- --url ${shell(address)} --device ${shell(named)} FILE`
  return (
    <details>
      <summary>Bring a history</summary>
      <div class="snippets stack some">
        <p>
          From Traccar, OwnTracks Recorder, Dawarich, GeoPulse, Google, PhoneTrack, watches and
          others: GPX, FIT, TCX, KML with tracks, GeoJSON, CSV, NDJSON. How to get the files of each
          is in the service’s documentation, under “Moving in”.
        </p>
        {may('history.import') && <ImportFiles deviceId={deviceId} />}
        <p>
          Or by a command, for files of gigabytes, with a key that has the scope{' '}
          <code>positions:import</code> in the environment variable <code>GPS_KEY</code>:
        </p>
        <Snippet title="Import" text={command} />
      </div>
    </details>
  )
}
