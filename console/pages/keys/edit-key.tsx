import { api } from '../../api/client.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { readLimits, type Key } from './key-words.ts'
import { LimitFields } from './limit-fields.tsx'

export function EditKey({ of, ...props }: DialogProps & { of: Key }) {
  return (
    <FormDialog
      {...props}
      title="Edit key"
      button="Save"
      submit={async (values) => {
        const body = changesOf(of, readLimits(values, shownZone()))
        if (Object.keys(body).length === 0) return
        await api.patch('/keys/{id}', { path: { id: of.id }, body })
      }}
      done="Key saved. Changes apply within 5 s."
    >
      <Field name="name" label="Name" defaultValue={of.name} autoFocus autoComplete="off" />
      <LimitFields of={of} />
    </FormDialog>
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
