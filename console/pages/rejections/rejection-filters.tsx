import type { components } from '../../api/schema.ts'
import { Filters, FilterRange, FilterSelect, FilterText } from '../../ui/filters.tsx'
import { isolate } from '../../ui/isolated.tsx'
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
      <FilterSelect
        name="keyId"
        label="Key"
        options={keys.map(({ id, name, hint }) => [id, `${isolate(name)} (${hint})`])}
        value={keyId}
      />
      <FilterSelect
        name="error"
        label="Why"
        options={ERRORS.map((one) => [one, one])}
        value={error}
      />
      <FilterText name="deviceId" label="Device id" value={deviceId} />
      <FilterRange range={range} />
    </Filters>
  )
}
