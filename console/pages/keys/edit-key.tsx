import { api } from '../../api/client.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { readLimits, type Key } from './key-words.ts'
import { LimitFields } from './limit-fields.tsx'

export function EditKey({
  of,
  onDone,
  onClose,
}: {
  of: Key
  onDone: () => void
  onClose: () => void
}) {
  async function change(values: Readonly<Record<string, string>>) {
    const body = changesOf(of, readLimits(values, shownZone()))
    if (Object.keys(body).length > 0) await api.patch('/keys/{id}', { path: { id: of.id }, body })
    toast('The key is changed. Senders notice it within 5 s.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Edit the key" onClose={onClose}>
      <Form button="Save" submit={change} cancel={onClose}>
        <Field name="name" label="Name" defaultValue={of.name} autoFocus autoComplete="off" />
        <LimitFields of={of} />
      </Form>
    </Dialog>
  )
}

/** Only changed fields: a field holds minutes, and an expiry in the past cannot be set again. */
function changesOf(of: Key, wanted: ReturnType<typeof readLimits>) {
  const { name, expiresAt, deviceIds, rateLimit } = wanted
  return {
    ...(name !== of.name && { name }),
    ...(expiresAt?.slice(0, 16) !== of.expiresAt?.slice(0, 16) && { expiresAt }),
    ...(JSON.stringify(deviceIds) !== JSON.stringify(of.deviceIds) && { deviceIds }),
    ...(rateLimit !== of.rateLimit && { rateLimit }),
  }
}
