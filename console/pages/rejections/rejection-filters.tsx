import type { components } from '../../api/schema.ts'
import { Field } from '../../parts/form.tsx'
import { setQuery } from '../../parts/router.ts'
import type { RejectionFilter } from './merge-rejections.ts'

type Key = components['schemas']['Key']

export function RejectionFilters({
  filter: { keyId, deviceId },
  keys,
}: {
  filter: RejectionFilter
  keys: readonly Key[]
}) {
  return (
    <div class="filters" role="search" aria-label="Which rejections">
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
                {`${name} (${hint})`}
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
    </div>
  )
}
