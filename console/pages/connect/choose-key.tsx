import { useEffect, useState } from 'preact/hooks'
import { TriangleAlert } from 'lucide'
import { api } from '../../api/client.ts'
import { ApiFailure, fieldFailure, sentence, toFailure } from '../../core/failure.ts'
import { may } from '../../live/session.ts'
import { Field, Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { go, pageAddress } from '../../ui/router.ts'
import { Secret } from '../../ui/secret.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { changeDraft, draft, earliestNow, type Draft } from './draft.ts'
import { readHandoff, type Handoff } from './handoff.ts'

/** Creates the device's key, or takes a pasted one. */
export function ChooseKey({
  arrivesAs,
  isKnown,
  hasManyDevices,
  secret,
  onSecret,
}: {
  /** The id that the device reports with; empty until it has one. */
  arrivesAs: string
  /**
   * Whether the guide is loaded: before that, a key would be limited to an id that is never sent.
   */
  isKnown: boolean
  hasManyDevices: boolean
  secret: string | undefined
  onSecret: (secret: string | undefined) => void
}) {
  const { name: called, deviceId, key } = draft.value
  const only = hasManyDevices ? undefined : arrivesAs
  const wanted = {
    name: (called.trim() || deviceId).slice(0, 100),
    deviceIds: only === undefined ? null : [only],
  }

  const create = useAction(async () => {
    if (deviceId === '') throw fieldFailure('name', 'Name the device first')
    const { key: made, id, name, hint, createdAt } = await api.post('/keys', { body: wanted })
    changeDraft({ key: { id, name, hint, only }, since: createdAt })
    onSecret(made)
  })

  /** Renames the key after the device was renamed, instead of creating a second one. */
  const rename = useAction(async () => {
    if (key === undefined) return
    const { name } = await api.patch('/keys/{id}', { path: { id: key.id }, body: wanted })
    changeDraft({ key: { ...key, name, only } })
  })

  async function paste({ pasted = '' }: Readonly<Record<string, string>>) {
    const { id, name, hint } = await identify(pasted.trim())
    changeDraft({ key: { id, name, hint }, since: earliestNow() })
    onSecret(pasted.trim())
  }

  if (!may('keys.edit')) {
    return <p>Only admins can create keys. Ask one for the secret of a key.</p>
  }
  const isOfOther = isKnown && key?.only !== undefined && arrivesAs !== '' && key.only !== only
  return (
    <>
      {key !== undefined && (
        <p>
          <Isolated class="strong">{key.name}</Isolated> <code>{key.hint}</code>
          {secret === undefined && (
            <span class="quiet">
              {' '}
              · its secret was shown only once: paste it, or create another key
            </span>
          )}
        </p>
      )}
      {secret !== undefined && <Secret text={secret} />}
      {secret !== undefined && key?.only !== undefined && (
        <p class="note">
          It is shown only once, and can send reports of <Isolated>{key.only}</Isolated> only.
          Change its limits or revoke it under Keys.
        </p>
      )}
      {isOfOther && (
        <div class="notice warn row">
          <p>This key is for the device id entered earlier.</p>
          <button type="button" disabled={rename.isRunning} onClick={rename.run}>
            Use it for {hasManyDevices ? 'all devices' : <Isolated>{arrivesAs}</Isolated>}
          </button>
        </div>
      )}
      {secret === undefined && (
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={create.isRunning || !isKnown}
            onClick={create.run}
          >
            Create a key
          </button>
        </div>
      )}
      {[create, rename].map(
        ({ failure }, index) =>
          failure !== undefined && <FailedLine key={index} failure={failure} />,
      )}
      <details>
        <summary>Use an existing key</summary>
        <Form button="Use it" submit={paste}>
          <Field
            name="pasted"
            label="Secret"
            type="password"
            autoComplete="off"
            hint="It is kept only on this page, until you leave it."
          />
        </Form>
      </details>
    </>
  )
}

async function identify(secret: string) {
  try {
    return await api.post('/keys/identify', { body: { key: secret } })
  } catch (failure) {
    if (!(failure instanceof ApiFailure)) throw failure
    if (failure.status === 404)
      throw fieldFailure('pasted', 'No key of your account has this secret.')
    if (failure.status === 400) throw fieldFailure('pasted', failure.message)
    throw failure
  }
}

/**
 * The key in a link or QR code: used once the service confirms that it belongs to this account,
 * otherwise only after the operator agrees. Anybody can create such a link, with a key of their own
 * account.
 */
export function BroughtKey({ onSecret }: { onSecret: (secret: string) => void }) {
  const [brought, setBrought] = useState<Handoff & { readonly why: string }>()
  useEffect(() => {
    const handoff = readHandoff(pageAddress.value.hash)
    if (handoff === undefined) return
    // The key must not remain in the address and the history.
    go(pageAddress.value.path, { replace: true })
    keyOfAccount(handoff.key).then(
      (key) => use(handoff, key),
      (thrown: unknown) => setBrought({ ...handoff, why: reason(thrown) }),
    )
  }, [])

  function use({ key: secret, deviceId, name, sender }: Handoff, key?: Draft['key']): void {
    changeDraft({ deviceId, name, sender, since: earliestNow(), key })
    onSecret(secret)
    setBrought(undefined)
  }

  if (brought === undefined) return null
  return (
    <div class="notice warn row" role="alert">
      <Icon of={TriangleAlert} />
      <p>
        This link has a key for <Isolated class="strong">{brought.deviceId}</Isolated>.{' '}
        {brought.why} With someone else’s key, the device reports to them, not to you.
      </p>
      <button type="button" class="primary" onClick={() => setBrought(undefined)}>
        Discard the key
      </button>
      <button type="button" onClick={() => use(brought)}>
        Use it anyway
      </button>
    </div>
  )
}

async function keyOfAccount(secret: string): Promise<Draft['key']> {
  if (!may('keys.edit')) throw new Error('only admins can see whose key it is')
  const { id, name, hint } = await api.post('/keys/identify', { body: { key: secret } })
  return { id, name, hint }
}

function reason(thrown: unknown): string {
  if (thrown instanceof ApiFailure && thrown.status === 404)
    return 'It is not a key of your account.'
  return `Its account could not be checked: ${sentence(toFailure(thrown).message)}`
}
