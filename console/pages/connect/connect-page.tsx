import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { TriangleAlert } from 'lucide'
import { api } from '../../api/client.ts'
import { guideOf, GUIDES } from '../../guides/guides.ts'
import { startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { Icon } from '../../ui/icon.tsx'
import { Page } from '../../ui/page.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { Arrival } from './arrival.tsx'
import { BroughtKey, ChooseKey } from './choose-key.tsx'
import { changeDraft, draft, earliestNow } from './draft.ts'
import type { TestAnswer } from './outcome.ts'
import { NameDevice } from './name-device.tsx'
import { SendTest } from './send-test.tsx'
import { BringHistory, NO_DEVICE, SenderSetup } from './sender-setup.tsx'
import './connect.css'

const NO_ADDRESS = 'https://ADDRESS-OF-THE-SERVICE'
const NO_KEY = 'YOUR_KEY'

/** Connects a device: from choosing an app to the first position on the map. */
export function ConnectPage() {
  const { deviceId, name, sender: chosen, key, since } = draft.value
  const [secret, setSecret] = useState<string>()
  const [answer, setAnswer] = useState<TestAnswer>()
  const {
    data: service,
    failure,
    reload,
  } = useLoad((signal) => api.get('/console', { signal }), [])
  const { id: sender, load, hasManyDevices = false } = guideOf(chosen)
  const guide = useLoad(load, [sender])
  const arrivesAs = deviceId === '' ? '' : (guide.data?.arrivesAs?.(deviceId) ?? deviceId)

  const hasKey = key !== undefined || secret !== undefined
  useEffect(startLive, [])

  function change(next: Parameters<typeof changeDraft>[0]) {
    changeDraft(next)
    setAnswer(undefined)
  }

  function another() {
    change({ deviceId: '', name: '', namedSince: undefined, key: undefined, since: earliestNow() })
    setSecret(undefined)
  }

  return (
    <Page
      title="Connect a device"
      actions={
        key !== undefined && (
          <button type="button" onClick={another}>
            Connect another
          </button>
        )
      }
    >
      {!may('keys.edit') && <Note>A new device needs a key, which only an admin can create.</Note>}
      <BroughtKey onSecret={setSecret} />
      <Step number={1} title="Name the device">
        <NameDevice arrivesAs={arrivesAs} onChange={() => setAnswer(undefined)} />
      </Step>
      <Step number={2} title="Choose what to connect">
        <ChooseSender sender={sender} choose={(next) => change({ sender: next })} />
      </Step>
      <Step number={3} title="Give it a key">
        <ChooseKey
          arrivesAs={arrivesAs}
          hasManyDevices={hasManyDevices}
          secret={secret}
          isKnown={guide.data !== undefined}
          onSecret={setSecret}
        />
      </Step>
      <Step number={4} title="Set it up">
        {failure !== undefined && <FailedLine failure={failure} onRetry={reload} />}
        {guide.failure !== undefined && (
          <FailedLine failure={guide.failure} onRetry={guide.reload} />
        )}
        {service !== undefined && (
          <AddressNotes address={service.ingestUrl} loopback={service.loopback} />
        )}
        <SenderSetup
          setup={{
            address: service?.ingestUrl ?? NO_ADDRESS,
            key: secret ?? NO_KEY,
            deviceId: deviceId === '' ? NO_DEVICE : deviceId,
          }}
          name={name}
          sender={sender}
          guide={guide.data}
          secret={secret}
        />
        <BringHistory address={service?.ingestUrl ?? NO_ADDRESS} deviceId={arrivesAs} />
      </Step>
      <Step number={5} title="See it arrive">
        <p>
          {may('keys.edit')
            ? 'Start the device, or try the key from here.'
            : 'Start the device: this page waits for it.'}
        </p>
        {secret !== undefined ? (
          <SendTest key={arrivesAs} secret={secret} deviceId={arrivesAs} onAnswer={setAnswer} />
        ) : (
          may('keys.edit') && (
            <div class="row">
              <button type="button" disabled>
                Send a test report
              </button>
              <span class="quiet">needs a key: create or paste one above</span>
            </div>
          )
        )}
      </Step>
      {/* Visible on the whole page: people look at the QR code while the report arrives. */}
      {(hasKey || !may('keys.edit')) && arrivesAs !== '' && (
        <Arrival
          deviceId={arrivesAs}
          name={name.trim()}
          keyId={key?.id}
          since={since}
          answer={answer}
        />
      )}
    </Page>
  )
}

function Step({
  number,
  title,
  children,
}: {
  number: number
  title: string
  children: ComponentChildren
}) {
  return (
    <section class="card box stack">
      <h2 class="row">
        <span class="step-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h2>
      {children}
    </section>
  )
}

/** The choice of an app, program or server to connect. */
function ChooseSender({ sender, choose }: { sender: string; choose: (sender: string) => void }) {
  return GUIDES.map(({ title, guides }) => (
    <fieldset key={title} class="senders row">
      <legend>{title}</legend>
      {guides.map(({ id, name }) => (
        <label key={id} class="sender">
          <input
            type="radio"
            name="sender"
            value={id}
            checked={id === sender}
            onChange={() => choose(id)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  ))
}

/** Warnings about the address given to senders. */
function AddressNotes({ address, loopback }: { address: string | null; loopback: boolean }) {
  if (address === null) {
    return (
      <Note>
        The service does not know its own address. Set <code>INGEST_PUBLIC_URL</code> where it is
        started, and enter the address below.
      </Note>
    )
  }
  if (loopback) {
    return (
      <Note>
        <code>{address}</code> can be reached only from the computer that it runs on. For phones in
        your network, start the service with <code>npm start -- --lan</code>, for others set{' '}
        <code>HOST</code> and <code>INGEST_PUBLIC_URL</code>.
      </Note>
    )
  }
  if (!address.startsWith('https:')) {
    return (
      <Note>
        <code>{address}</code> is not encrypted: anyone in between can read the key and the
        positions. Use HTTPS outside your own network.
      </Note>
    )
  }
  return null
}

function Note({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice warn row">
      <Icon of={TriangleAlert} />
      <p>{children}</p>
    </div>
  )
}
