import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { ArrowDownWideNarrow, ArrowUpNarrowWide, Ellipsis, SlidersHorizontal } from 'lucide'
import { countByLabel, countByStatus, sortDevices, STATUSES } from '../../core/choose-devices.ts'
import { COLUMNS } from '../../core/device-columns.ts'
import { STATUS_WORDS } from '../../core/device-words.ts'
import { MOST_DEVICES } from '../../core/fleet.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { lister } from '../../live/live.ts'
import { StatusShape } from '../../ui/device-parts.tsx'
import { Icon, IconButton } from '../../ui/icon.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { Menu } from '../../ui/menu.tsx'
import { isPhone } from '../../ui/phone.ts'
import { setQuery } from '../../ui/router.ts'
import { Select } from '../../ui/choice-fields.tsx'
import { formatCount, formatNumber } from '../../ui/shown.ts'
import { useRules } from '../geofences/use-definitions.ts'
import { focusList } from './device-list.tsx'
import { saveCsv } from './marked-bar.tsx'
import { pastAt, shownFleet } from './shown-fleet.ts'
import { selectFirst } from './fleet-map.tsx'
import {
  mapGeofences,
  ruleNames,
  chosenDevices,
  chosenGeofence,
  chosenLabel,
  chosenRule,
  columns,
  filterByLabel,
  foundDevices,
  isMarking,
  listOrder,
  search,
  searchedWords,
  searchText,
  sort,
  sortBy,
  statuses,
  toggleColumn,
  toggleStatus,
} from './map-state.ts'
import { wantsFirstPlace } from './found-places.tsx'
import { pin } from './pin.ts'

export function ListFilters() {
  watchWords()
  const input = useRef<HTMLInputElement>(null)
  useKeys(
    {
      ArrowDown: { label: 'Go to the list', run: focusList },
      Enter: {
        label: 'Select the best match',
        run: () => (wantsFirstPlace.value = !selectFirst()),
      },
    },
    { title: 'In the search', element: input },
  )
  const [isOpen, setOpen] = useState(false)
  const choices = useId()
  return (
    <div class="list-filters stack near">
      <div class="search">
        <input
          ref={input}
          type="search"
          aria-label="Search devices and places"
          placeholder="Device, street, town"
          autoComplete="off"
          spellcheck={false}
          value={searchText.value}
          onInput={({ currentTarget }) => {
            wantsFirstPlace.value = false
            search(currentTarget.value)
          }}
          data-search
        />
        {isPhone.value && <FiltersButton isOpen={isOpen} toggle={setOpen} controls={choices} />}
        <ListMenu />
      </div>
      {/* On a phone the devices need the space; the rules' names are read with the filters. */}
      <div id={choices} class="stack near" hidden={isPhone.value && !isOpen}>
        <div class="list-order">
          <LabelFilter />
          <SortChoice />
        </div>
        <DefinitionFilters />
        <StatusFilters />
      </div>
      {lister.isCut.value && (
        <p class="notice row">The latest {formatCount(MOST_DEVICES, 'device')} are shown.</p>
      )}
    </div>
  )
}

/** Shows how many filters are active, even while they are hidden. */
function FiltersButton({
  isOpen,
  toggle,
  controls,
}: {
  isOpen: boolean
  toggle: (isOpen: boolean) => void
  controls: string
}) {
  const used =
    [chosenLabel.value, chosenGeofence.value, chosenRule.value].filter(Boolean).length +
    Math.sign(statuses.value.size)
  return (
    <button
      type="button"
      aria-label={used === 0 ? 'Filters' : `Filters, ${used} used`}
      aria-expanded={isOpen}
      aria-controls={controls}
      onClick={() => toggle(!isOpen)}
    >
      <Icon of={SlidersHorizontal} />
      {used > 0 && used}
    </button>
  )
}

/** The number of devices in each status; if some are pressed, only those are shown. */
function StatusFilters() {
  watchWords()
  const counts = countByStatus(foundDevices())
  const isKnown = lister.isListed.value || shownFleet().devices.size > 0
  return (
    <div class="status-filters" role="group" aria-label="Show only">
      {STATUSES.filter((one) => one !== 'disabled' || counts.disabled > 0).map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={statuses.value.has(status)}
          onClick={() => toggleStatus(status)}
        >
          <StatusShape status={status} />
          <span class="number">{isKnown ? formatNumber(counts[status]) : '–'}</span>{' '}
          <span class="word note">{STATUS_WORDS[status]}</span>
        </button>
      ))}
    </div>
  )
}

/** The columns of the list, and the actions on the whole list. */
export function ListMenu() {
  return (
    <Menu button={<Icon of={Ellipsis} />} label="List options">
      {(id) => (
        <>
          <div class="menu-links">
            <button
              type="button"
              class="plain"
              popovertarget={id}
              popovertargetaction="hide"
              onClick={() => (isMarking.value = true)}
            >
              Select devices
            </button>
            <button
              type="button"
              class="plain"
              popovertarget={id}
              popovertargetaction="hide"
              onClick={() => saveCsv(sortDevices([...chosenDevices()], listOrder()))}
            >
              Export the list as CSV
            </button>
          </div>
          <fieldset class="stack tight">
            <legend>Columns</legend>
            {COLUMNS.filter(({ id: column }) => column !== 'name').map(({ id: column, title }) => (
              <label key={column} class="row">
                <input
                  type="checkbox"
                  checked={columns.value.includes(column)}
                  onChange={() => toggleColumn(column)}
                />
                {title}
              </label>
            ))}
          </fieldset>
        </>
      )}
    </Menu>
  )
}

/** Shows only the devices with a label; absent if no device has one. */
function LabelFilter() {
  watchWords()
  const counts = new Map(countByLabel(shownFleet().devices.values()))
  // The address may name a label that no device has any longer.
  if (chosenLabel.value !== '' && !counts.has(chosenLabel.value)) counts.set(chosenLabel.value, 0)
  if (counts.size === 0) return null
  return (
    <Select
      aria-label="Label"
      options={[
        ['', 'All labels'],
        ...[...counts].map(
          ([one, count]) => [one, `${isolate(one)} (${formatNumber(count)})`] as const,
        ),
      ]}
      value={chosenLabel.value}
      onChange={filterByLabel}
    />
  )
}

/** Shows only the devices in a geofence, or for which a rule is raised. */
function DefinitionFilters() {
  const geofences = mapGeofences.value
  const { data } = useRules()
  const rules = pastAt.value === undefined ? (data ?? []) : []
  useEffect(() => {
    ruleNames.value = new Map(data?.map(({ id, name }) => [id, name]))
  }, [data])
  if (geofences.length === 0 && rules.length === 0) return null
  const choices = [
    ['geofence', 'Geofence', 'All geofences', geofences, chosenGeofence.value],
    ['rule', 'Rule raised', 'All rules', rules, chosenRule.value],
  ] as const
  return (
    <div class="list-order">
      {choices.map(([name, label, any, items, value]) =>
        items.length === 0 ? null : (
          <Select
            key={name}
            aria-label={label}
            options={[['', any], ...items.map((one) => [one.id, isolate(one.name)] as const)]}
            value={value}
            onChange={(next) => setQuery({ [name]: next })}
          />
        ),
      )}
    </div>
  )
}

/** The column by which the list is sorted, and the direction. */
function SortChoice() {
  const { by, isDescending } = sort.value
  const options = COLUMNS.map(({ id, title }) => [id, title] as const)
  return (
    <>
      <Select
        aria-label="Sort by"
        options={[
          ...(searchedWords.value.length > 0 ? [['match', 'Best match'] as const] : []),
          ...(pin.value === undefined ? [] : [['distance', 'Distance'] as const]),
          ...options,
        ]}
        value={by}
        onChange={(next) => {
          const column = COLUMNS.find(({ id }) => id === next)
          const by = column?.id ?? (next === 'distance' ? next : 'match')
          sortBy({ by, isDescending: column?.isDescending === true })
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
