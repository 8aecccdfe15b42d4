import type { CopyableText, Guide, SetupLink, Setup } from '../../guides/guide.ts'
import { commonTroubles } from '../../guides/guides.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Prose } from './prose.tsx'
import { QrCode } from './qr-code.tsx'

/** The guide of one app, filled in. */
export function GuideView({
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
export function Snippet({ title, text }: CopyableText) {
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
      <div class="on-phone tiles">
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
