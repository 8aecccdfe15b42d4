import { Field } from './form.tsx'
import { shownZone } from './preferences.ts'
import { setQuery } from './router.ts'
import { fromInput, toInput } from '../core/zoned-input.ts'

const LABELS = { from: 'From', to: 'To' } as const

/** Start and end of a range, in the operator's zone; in the address as UTC. */
export function RangeFields({
  range,
}: {
  range: { readonly from?: string; readonly to?: string }
}) {
  const zone = shownZone()
  return (
    <>
      {(['from', 'to'] as const).map((name) => (
        <Field key={name} name={name} label={LABELS[name]}>
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              value={inputOf(range[name], zone)}
              onChange={({ currentTarget: { value } }) => setQuery({ [name]: isoOf(value, zone) })}
            />
          )}
        </Field>
      ))}
    </>
  )
}

function inputOf(iso: string | undefined, zone: string): string {
  const ms = Date.parse(iso ?? '')
  return Number.isFinite(ms) ? toInput(ms, zone) : ''
}

function isoOf(text: string, zone: string): string | undefined {
  const ms = fromInput(text, zone)
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
