import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { now } from '../../ui/clock.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Time } from '../../ui/time.tsx'
import { KeepSecret } from './keep-secret.tsx'
import type { Key, KeyWithSecret } from './key-words.ts'

const GRACES: readonly (readonly [seconds: number, words: string])[] = [
  [0, 'Not at all: it stops at once'],
  [3_600, 'For an hour'],
  [86_400, 'For a day'],
  [7 * 86_400, 'For 7 days'],
  [30 * 86_400, 'For 30 days'],
]

/** Gives a key a new secret; the previous one works for a while, so that senders can be changed. */
export function RotateKey({
  of,
  onDone,
  onClose,
}: {
  of: Key
  onDone: () => void
  onClose: () => void
}) {
  const [grace, setGrace] = useState(7 * 86_400)
  const [made, setMade] = useState<KeyWithSecret>()

  async function rotate() {
    const body = { graceSeconds: grace }
    setMade(await api.post('/keys/{id}/rotate', { path: { id: of.id }, body }))
    onDone()
  }

  if (made !== undefined) return <KeepSecret of={made} title="The new secret" onClose={onClose} />
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      <p>
        <Isolated class="strong">{of.name}</Isolated> gets a new secret and stays the same key: same
        name, same limits, same history.
      </p>
      <Form button="Rotate" submit={rotate} cancel={onClose}>
        <Field
          name="graceSeconds"
          label="The old secret works on"
          hint={
            grace === 0 ? (
              'Senders that have it are refused from now on.'
            ) : (
              <>
                Until <Time at={new Date(now.value + grace * 1_000).toISOString()} />. Give your
                senders the new one before.
              </>
            )
          }
        >
          {(attributes) => (
            <select
              {...attributes}
              value={String(grace)}
              onChange={({ currentTarget }) => setGrace(Number(currentTarget.value))}
            >
              {GRACES.map(([seconds, words]) => (
                <option key={seconds} value={String(seconds)}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  )
}
