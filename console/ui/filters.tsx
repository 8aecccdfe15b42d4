import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { endInput, endMoment } from '../core/range-end.ts'
import { fromInput, toInput } from '../core/times.ts'
import { Field, useTyped } from './form.tsx'
import { MomentInput } from './moment-input.tsx'
import { isPhone } from './phone.ts'
import { PickInput, useDebounced, type FindOptions } from './pick.tsx'
import { readerZone } from './preferences.ts'
import { setQuery } from './router.ts'
import { SelectField, type Choices } from './choice-fields.tsx'
import { Empty } from './states.tsx'

/**
 * The filters of a list. On a phone they are collapsed, unless one is set: the list matters more.
 */
export function Filters({
  label,
  isUsed,
  children,
}: {
  /** Label for screen readers. */
  label: string
  isUsed: boolean
  children: ComponentChildren
}) {
  const [isOpen] = useState(() => isUsed || !isPhone.value)
  return (
    <details class="filter-fold" open={isOpen}>
      <summary>Filter</summary>
      <div class="filters" role="search" aria-label={label}>
        {children}
      </div>
    </details>
  )
}

/** The text of a list left empty by its filters, with a button that clears them. */
export function NoMatch({
  title,
  filters,
  children,
}: {
  title: string
  filters: readonly string[]
  children?: ComponentChildren
}) {
  return (
    <Empty title={title}>
      {children}
      <button
        type="button"
        onClick={() => setQuery(Object.fromEntries(filters.map((name) => [name, undefined])))}
      >
        Show all
      </button>
    </Empty>
  )
}

/** A filter in the address, chosen from a list; a value missing from the list is also offered. */
export function FilterSelect({
  name,
  label,
  options,
  value = '',
  none = 'All',
}: {
  name: string
  label: string
  options: Choices
  value: string | undefined
  /** The label for no filter. */
  none?: string
}) {
  const isListed = value === '' || options.some(([one]) => one === value)
  return (
    <SelectField
      name={name}
      label={label}
      value={value}
      options={[['', none], ...(isListed ? [] : [[value, value] as const]), ...options]}
      onChange={(next) => setQuery({ [name]: next })}
    />
  )
}

/** A typed filter in the address. */
export function FilterText({
  name,
  label,
  value = '',
}: {
  name: string
  label: string
  value: string | undefined
}) {
  const typed = useTyped(value, (text) => {
    setQuery({ [name]: text })
    return true
  })
  return (
    <Field name={name} label={label} type="search" maxLength={128} spellcheck={false} {...typed} />
  )
}

const TYPED_MS = 300

/** A search in the address, updated while typing. */
export function FilterSearch({
  name,
  label,
  placeholder,
  value = '',
}: {
  name: string
  label: string
  placeholder: string
  value: string | undefined
}) {
  const [typed, setTyped] = useState(value)
  const settled = useDebounced(typed, TYPED_MS)
  useEffect(() => setQuery({ [name]: settled.trim() }), [settled])
  // The address changed through Back or "Show all".
  useEffect(() => {
    if (value !== settled.trim()) setTyped(value)
  }, [value])
  return (
    <Field
      name={name}
      label={label}
      type="search"
      maxLength={128}
      spellcheck={false}
      autoComplete="off"
      placeholder={placeholder}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  )
}

/**
 * A filter in the address, found by a search: for lists too long for a choice.
 *
 * @param names several names are one filter, because the API rejects them together: an option's
 * value then starts with its name.
 */
export function FilterPick({
  names,
  label,
  placeholder,
  words,
  find,
}: {
  names: readonly [string, ...string[]]
  label: string
  placeholder: string
  /** Text for the selected value; may be empty. */
  words: string
  find: FindOptions
}) {
  function pick(value = ''): void {
    const valueOf = (name: string) =>
      value.startsWith(`${name} `) ? value.slice(name.length + 1) : undefined
    const isOne = names.length === 1
    setQuery(Object.fromEntries(names.map((name) => [name, isOne ? value : valueOf(name)])))
  }
  return (
    <Field name={names[0]} label={label}>
      {(attributes) => (
        <PickInput
          attributes={attributes}
          shown={words}
          placeholder={placeholder}
          find={find}
          onPick={(option) => pick(option?.value)}
        />
      )}
    </Field>
  )
}

const LABELS = { from: 'From', to: 'To' } as const

/** Start and end of a range, in the operator's zone; in the address as UTC. */
export function FilterRange({
  range,
}: {
  range: { readonly from?: string; readonly to?: string }
}) {
  const zone = readerZone()
  return (
    <div class="filter-range">
      {(['from', 'to'] as const).map((name) => (
        <Field key={name} name={name} label={LABELS[name]}>
          {(attributes) => (
            <MomentInput
              {...attributes}
              label={LABELS[name]}
              isEnd={name === 'to'}
              value={inputOf(name, range[name], zone)}
              onChange={(value) => setQuery({ [name]: isoOf(name, value, zone) })}
            />
          )}
        </Field>
      ))}
    </div>
  )
}

type End = keyof typeof LABELS

function inputOf(end: End, iso: string | undefined, zone: string): string {
  const ms = Date.parse(iso ?? '')
  if (!Number.isFinite(ms)) return ''
  return end === 'to' ? endInput(ms, zone) : toInput(ms, zone)
}

function isoOf(end: End, text: string, zone: string): string | undefined {
  const ms = end === 'to' ? endMoment(text, zone) : fromInput(text, zone)
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
