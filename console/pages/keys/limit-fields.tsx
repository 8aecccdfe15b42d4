import { Field } from '../../ui/form.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { toInput } from '../../core/times.ts'
import type { Key } from './key-words.ts'

/** The fields for a key's limits; without `of` those of a new key. */
export function LimitFields({ of }: { of?: Key }) {
  const zone = shownZone()
  return (
    <>
      <Field
        name="expiresAt"
        label="Expires"
        type="datetime-local"
        hint={`In ${zone}. Leave empty for no expiry.`}
        {...(of?.expiresAt && { defaultValue: toInput(Date.parse(of.expiresAt), zone) })}
      />
      <Field
        name="deviceIds"
        label="Only for these devices"
        hint="One device id per line; van-* covers all that begin with van-. Leave empty for all devices."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            spellcheck={false}
            defaultValue={of?.deviceIds?.join('\n') ?? ''}
          />
        )}
      </Field>
      <Field
        name="rateLimit"
        label="Positions per minute"
        type="text"
        inputMode="numeric"
        hint="Reports beyond it are rejected. Leave empty for the limit of the service."
        {...(typeof of?.rateLimit === 'number' && { defaultValue: String(of.rateLimit) })}
      />
    </>
  )
}
