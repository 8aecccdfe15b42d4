import { Field } from '../../ui/form.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { toInput } from '../../core/zoned-input.ts'
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
        hint={`In ${zone}. Empty: never.`}
        {...(of?.expiresAt && { defaultValue: toInput(Date.parse(of.expiresAt), zone) })}
      />
      <Field
        name="deviceIds"
        label="Only for these devices"
        hint="One device id a line, or the beginning of some with a * after it. Empty: for all."
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
        label="Positions a minute"
        type="text"
        inputMode="numeric"
        hint="Beyond that reports are refused with 429. Empty: the service's own limit."
        {...(typeof of?.rateLimit === 'number' && { defaultValue: String(of.rateLimit) })}
      />
    </>
  )
}
