import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { readLimits, SCOPE_WORDS, SCOPE_NAMES, type KeyWithSecret } from './key-words.ts'
import { LimitFields } from './limit-fields.tsx'
import { KeySecret } from './key-secret.tsx'

/** Creates a key and shows its secret. */
export function NewKeyDialog(props: DialogProps) {
  const [made, setMade] = useState<KeyWithSecret>()
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(['positions:write']))

  async function create(values: Values) {
    if (scopes.size === 0) throw faultAt('scopes', 'Choose at least one permission.')
    const wanted = SCOPE_NAMES.filter((scope) => scopes.has(scope))
    const body = { ...readLimits(values, shownZone()), scopes: wanted }
    setMade(await api.post('/keys', { body }))
  }

  if (made !== undefined) return <KeySecret {...props} of={made} title="Key created" />
  return (
    <FormDialog {...props} title="New key" button="Create key" submit={create}>
      <Field
        name="name"
        label="Name"
        hint="What it is for: a vehicle, a gateway, a program."
        autoFocus
        autoComplete="off"
      />
      <Field name="scopes" label="Permissions">
        {({ id, name, ...described }) => (
          <div id={id} role="group" aria-label="Permissions" {...described}>
            {SCOPE_NAMES.map((scope) => (
              <label key={scope} class="check">
                <input
                  type="checkbox"
                  name={name}
                  checked={scopes.has(scope)}
                  onChange={() => setScopes((before) => toggled(before, scope))}
                />
                {SCOPE_WORDS[scope]}
              </label>
            ))}
          </div>
        )}
      </Field>
      <details>
        <summary>Limits</summary>
        <div class="stack">
          <LimitFields />
        </div>
      </details>
    </FormDialog>
  )
}

function toggled(before: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(one)) after.add(one)
  return after
}
