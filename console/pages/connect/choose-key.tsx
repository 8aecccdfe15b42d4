import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { ApiFailure, faultAt } from '../../core/failure.ts'
import { may } from '../../live/rights.ts'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Secret } from '../../ui/secret.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { changeDraft, draft, justNow } from './draft.ts'

/** Creates the device's key, or takes a pasted one. */
export function ChooseKey({
  secret,
  onSecret,
}: {
  secret: string | undefined
  onSecret: (secret: string | undefined) => void
}) {
  const { deviceId, key } = draft.value
  const [isNew, setNew] = useState(false)
  const make = useAction(async () => {
    const name = `Key of ${deviceId}`.slice(0, 100)
    const { key: made, id, hint, createdAt } = await api.post('/keys', { body: { name } })
    changeDraft({ key: { id, name, hint }, since: createdAt })
    setNew(true)
    onSecret(made)
  })

  async function paste({ pasted = '' }: Readonly<Record<string, string>>) {
    const { id, name, hint } = await identify(pasted.trim())
    changeDraft({ key: { id, name, hint }, since: justNow() })
    setNew(false)
    onSecret(pasted.trim())
  }

  if (!may('keys.edit')) {
    return <p>Keys are made by admins of your account. Ask one for the secret of a key.</p>
  }
  return (
    <>
      {key !== undefined && (
        <p>
          <Isolated class="strong">{key.name}</Isolated> <code>{key.hint}</code>
          {secret === undefined && (
            <span class="quiet"> · its secret was shown once: paste it, or make another key</span>
          )}
        </p>
      )}
      {secret !== undefined && (
        <>
          <Secret text={secret} />
          {isNew && (
            <p class="note">
              It is shown this once. It may send reports of any device; under Keys you set limits,
              or take it back.
            </p>
          )}
        </>
      )}
      <div class="row">
        <button
          type="button"
          class={secret === undefined ? 'primary' : undefined}
          disabled={make.isRunning}
          onClick={make.run}
        >
          Make a key
        </button>
      </div>
      {make.failure !== undefined && <FailedLine failure={make.failure} />}
      <details>
        <summary>Use one that is there</summary>
        <Form button="Use it" submit={paste}>
          <Field
            name="pasted"
            label="Its secret"
            type="password"
            autoComplete="off"
            hint="It stays in this page, and is gone when you leave it."
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
    if (failure.status === 404) throw faultAt('pasted', 'no key of your account has this secret')
    if (failure.status === 400) throw faultAt('pasted', failure.message)
    throw failure
  }
}
