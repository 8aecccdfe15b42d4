import { useState } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { place } from '../../ui/router.ts'
import { Secret } from '../../ui/secret.tsx'
import { fromInput, toInput } from '../../core/zoned-input.ts'
import { DevicePicker, type Pickable } from './device-picker.tsx'

const DAY_MS = 86_400_000

/** Creates a link and shows it, only this once. */
export function NewShare({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const [link, setLink] = useState<string>()
  const [chosen, setChosen] = useState<readonly Pickable[]>(() =>
    place
      .peek()
      .query.getAll('device')
      .map((deviceId) => ({ deviceId, name: null })),
  )
  const zone = shownZone()

  async function make(values: Readonly<Record<string, string>>) {
    const { name = '', expiresAt = '', trailMinutes = '' } = values
    const until = fromInput(expiresAt, zone)
    if (until === undefined) throw faultAt('expiresAt', 'give date and time')
    const body = {
      name: name.trim(),
      deviceIds: chosen.map(({ deviceId }) => deviceId),
      expiresAt: new Date(until).toISOString(),
      trailMinutes: Number(trailMinutes),
    }
    const { token } = await api.post('/shares', { body })
    setLink(`${location.origin}/share#${token}`)
    onDone()
  }

  if (link !== undefined) {
    return (
      <Dialog title="The link is made">
        <p>Copy it now. It is shown this once, and works for whoever has it.</p>
        <Secret text={link} what="Link" />
        <div class="buttons">
          <button type="button" class="primary" onClick={onClose}>
            I have it
          </button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="New link" onClose={onClose}>
      <Form button="Make the link" submit={make} cancel={onClose}>
        <Field
          name="name"
          label="Name"
          hint="Shown to whoever opens the link."
          autoFocus
          autoComplete="off"
        />
        <DevicePicker chosen={chosen} choose={setChosen} />
        <Field
          name="expiresAt"
          label="Until"
          type="datetime-local"
          hint={`In ${zone}, at most 30 days from now.`}
          defaultValue={toInput(serverNow() + DAY_MS, zone)}
        />
        <Field name="trailMinutes" label="Where they came from">
          {(attributes) => (
            <select {...attributes} defaultValue="0">
              <option value="0">Not shown</option>
              <option value="15">The last 15 minutes</option>
              <option value="60">The last hour</option>
              <option value="480">The last 8 hours</option>
              <option value="1440">The last day</option>
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  )
}
