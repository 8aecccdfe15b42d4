import { ArrowDownWideNarrow, ArrowUpNarrowWide } from 'lucide'
import { COLUMNS } from '../../core/device-columns.ts'
import { IconButton } from '../../ui/icon.tsx'
import { Select } from '../../ui/select-field.tsx'
import { sort, sortBy, words } from './map-state.ts'

/** The column by which the list is sorted, and the direction. */
export function SortChoice() {
  const { by, isDescending } = sort.value
  const options = COLUMNS.map(({ id, title }) => [id, title] as const)
  return (
    <>
      <Select
        aria-label="Sort by"
        options={words.value.length > 0 ? [['match', 'Best match'], ...options] : options}
        value={by}
        onChange={(next) => {
          const column = COLUMNS.find(({ id }) => id === next)
          sortBy({ by: column?.id ?? 'match', isDescending: column?.isDescending === true })
        }}
      />
      <IconButton
        icon={isDescending ? ArrowDownWideNarrow : ArrowUpNarrowWide}
        label="Reverse the order"
        aria-pressed={isDescending}
        disabled={by === 'match'}
        onClick={() => sortBy({ by, isDescending: !isDescending })}
      />
    </>
  )
}
