import { useState } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { fromInput, toInput } from '../../core/zoned-input.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { KeepSecret } from '../../ui/keep-secret.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { place } from '../../ui/router.ts'
import { SelectField } from '../../ui/select-field.tsx'
import { DevicePicker, type Pickable } from './device-picker.tsx'
import { addressOf } from '../../core/address.ts'

const DAY_MS = 86_400_000

const TRAILS = [
  ['0', 'Not shown'],
  ['15', 'The last 15 minutes'],
  ['60', 'The last hour'],
  ['480', 'The last 8 hours'],
  ['1440', 'The last day'],
] as const

/** Creates a link and shows it, only this once. */
export function NewShare(props: DialogProps) {
  const [link, setLink] = useState<string>()
  const [chosen, setChosen] = useState<readonly Pickable[]>(() =>
    place
      .peek()
      .query.getAll('device')
      .map((deviceId) => ({ deviceId, name: null })),
  )
  const zone = shownZone()

  async function create({ name = '', expiresAt = '', trailMinutes = '' }: Values) {
    const until = fromInput(expiresAt, zone)
    if (until === undefined) throw faultAt('expiresAt', 'Enter date and time')
    const body = {
      name: name.trim(),
      deviceIds: chosen.map(({ deviceId }) => deviceId),
      expiresAt: new Date(until).toISOString(),
      trailMinutes: Number(trailMinutes),
    }
    const { token } = await api.post('/shares', { body })
    setLink(`${location.origin}${addressOf('/share')}#${token}`)
  }

  if (link !== undefined) {
    return (
      <KeepSecret
        title="The link is created"
        notice="Copy it now. It is shown this once, and works for whoever has it."
        text={link}
        what="Link"
        onClose={props.onClose}
      />
    )
  }
  return (
    <FormDialog {...props} title="New link" button="Create the link" submit={create}>
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
      <SelectField
        name="trailMinutes"
        label="Where they came from"
        hint="It begins with the link: nothing from before is ever shown."
        options={TRAILS}
        value={TRAILS[0][0]}
      />
    </FormDialog>
  )
}
