import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { readLimits, SCOPES, type KeyWithSecret } from './key-words.ts'
import { LimitFields } from './limit-fields.tsx'
import { KeepSecret } from './keep-secret.tsx'

/** Creates a key and shows its secret. */
export function NewKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [made, setMade] = useState<KeyWithSecret>()
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(['positions:write']))

  async function make(values: Readonly<Record<string, string>>) {
    const wanted = SCOPES.map(({ scope }) => scope).filter((scope) => scopes.has(scope))
    setMade(
      await api.post('/keys', { body: { ...readLimits(values, shownZone()), scopes: wanted } }),
    )
    onMade()
  }

  if (made !== undefined) return <KeepSecret of={made} title="The key is made" onClose={onClose} />
  return (
    <Dialog title="New key" onClose={onClose}>
      <Form button="Make the key" submit={make} cancel={onClose}>
        <Field
          name="name"
          label="Name"
          hint="What it is for: a vehicle, a gateway, a program."
          autoFocus
          autoComplete="off"
        />
        <Field name="scopes" label="What it may do">
          {({ id, name, ...described }) => (
            <div id={id} role="group" aria-label="What it may do" {...described}>
              {SCOPES.map(({ scope, words }) => (
                <label key={scope} class="check">
                  <input
                    type="checkbox"
                    name={name}
                    checked={scopes.has(scope)}
                    onChange={() => setScopes((before) => toggled(before, scope))}
                  />
                  {words}
                </label>
              ))}
            </div>
          )}
        </Field>
        <details>
          <summary>Limits</summary>
          <div class="form">
            <LimitFields />
          </div>
        </details>
      </Form>
    </Dialog>
  )
}

function toggled(before: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(one)) after.add(one)
  return after
}
