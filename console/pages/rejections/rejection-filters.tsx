import type { components } from '../../api/schema.ts'
import { Filters } from '../../ui/filters.tsx'
import { Field } from '../../ui/form.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { RangeFields } from '../../ui/range-fields.tsx'
import { setQuery } from '../../ui/router.ts'
import type { Rejection, RejectionFilter } from './merge-rejections.ts'

type Key = components['schemas']['Key']

const ERRORS: readonly Rejection['error'][] = [
  'INVALID_PARAMS',
  'FORBIDDEN',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
]

export function RejectionFilters({
  filter,
  keys,
}: {
  filter: RejectionFilter
  keys: readonly Key[]
}) {
  const { keyId, deviceId, error, ...range } = filter
  return (
    <Filters label="Which rejections" isUsed={Object.keys(filter).length > 0}>
      <Field name="keyId" label="Key">
        {(attributes) => (
          <select
            {...attributes}
            value={keyId ?? ''}
            onChange={({ currentTarget }) => setQuery({ keyId: currentTarget.value })}
          >
            <option value="">All</option>
            {keyId !== undefined && !keys.some(({ id }) => id === keyId) && (
              <option value={keyId}>{keyId}</option>
            )}
            {keys.map(({ id, name, hint }) => (
              <option key={id} value={id}>
                {`${isolate(name)} (${hint})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field name="error" label="Why">
        {(attributes) => (
          <select
            {...attributes}
            value={error ?? ''}
            onChange={({ currentTarget }) => setQuery({ error: currentTarget.value })}
          >
            <option value="">All</option>
            {ERRORS.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field name="deviceId" label="Device id">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            maxLength={128}
            spellcheck={false}
            value={deviceId ?? ''}
            onChange={({ currentTarget }) => setQuery({ deviceId: currentTarget.value })}
          />
        )}
      </Field>
      <RangeFields range={range} />
    </Filters>
  )
}
