import type { components } from '../../api/schema.ts'
import { Filters, FilterRange, FilterSelect, FilterText } from '../../ui/filters.tsx'
import { isolate } from '../../ui/isolated.tsx'
import type { ShownRejections } from './merge-rejections.ts'
import { ERROR_NAMES } from './rejection-words.ts'

type Key = components['schemas']['Key']

export function RejectionFilters({
  filter,
  keys,
}: {
  filter: ShownRejections
  keys: readonly Key[]
}) {
  const { keyId, deviceId, error, ...range } = filter
  return (
    <Filters label="Filter rejections" isUsed={Object.keys(filter).length > 0}>
      <FilterSelect
        name="keyId"
        label="Key"
        options={keys.map(({ id, name, hint }) => [id, `${isolate(name)} (${hint})`])}
        value={keyId}
      />
      <FilterSelect
        name="error"
        label="Reason"
        options={Object.entries(ERROR_NAMES)}
        value={error}
      />
      <FilterText name="deviceId" label="Device id" value={deviceId} />
      <FilterRange range={range} />
    </Filters>
  )
}
