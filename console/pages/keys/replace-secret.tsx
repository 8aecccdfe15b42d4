import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { now } from '../../ui/clock.ts'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { SelectField } from '../../ui/select-field.tsx'
import { Time } from '../../ui/time.tsx'
import { KeySecret } from './key-secret.tsx'
import type { Key, KeyWithSecret } from './key-words.ts'

/** Seconds. */
const GRACES = [
  ['0', 'Not at all'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const

/** Gives a key a new secret; the previous one works for a while, so that senders can be changed. */
export function ReplaceSecret({ of, ...props }: DialogProps & { of: Key }) {
  const [grace, setGrace] = useState('604800')
  const [made, setMade] = useState<KeyWithSecret>()
  const graceSeconds = Number(grace)

  async function replace() {
    setMade(await api.post('/keys/{id}/rotate', { path: { id: of.id }, body: { graceSeconds } }))
  }

  if (made !== undefined) return <KeySecret {...props} of={made} title="New secret" />
  return (
    <FormDialog {...props} title="Replace secret" button="Replace secret" submit={replace}>
      <p>
        <Isolated class="strong">{of.name}</Isolated> gets a new secret. Its name, limits and
        history stay.
      </p>
      <SelectField
        name="graceSeconds"
        label="The old secret keeps working"
        hint={
          graceSeconds === 0 ? (
            'It stops working at once.'
          ) : (
            <>
              Until <Time at={new Date(now.value + graceSeconds * 1_000).toISOString()} />. Give
              your senders the new one by then.
            </>
          )
        }
        options={GRACES}
        value={grace}
        onChange={setGrace}
      />
    </FormDialog>
  )
}
