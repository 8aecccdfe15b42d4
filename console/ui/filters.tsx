import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { fromInput, toInput } from '../core/times.ts'
import { Field, useTyped } from './form.tsx'
import { MomentInput } from './moment-input.tsx'
import { isPhone } from './phone.ts'
import { shownZone } from './preferences.ts'
import { setQuery } from './router.ts'
import { SelectField, type Choices } from './choice-fields.tsx'
import { Empty } from './states.tsx'

/** The filters of a list. On a phone they are folded, unless one is set: the list matters more. */
export function Filters({
  label,
  isUsed,
  children,
}: {
  /** For screen readers. */
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

/** The text of a list that its filters leave empty, with a button that clears them. */
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

/** A filter in the address, chosen from a list; a value missing from the list is offered, too. */
export function FilterSelect({
  name,
  label,
  options,
  value = '',
  excludes,
}: {
  name: string
  label: string
  options: Choices
  value: string | undefined
  /** Another filter that this one clears: the API refuses both together. */
  excludes?: string
}) {
  const isListed = value === '' || options.some(([one]) => one === value)
  return (
    <SelectField
      name={name}
      label={label}
      value={value}
      options={[['', 'All'], ...(isListed ? [] : [[value, value] as const]), ...options]}
      onChange={(next) =>
        setQuery({ [name]: next, ...(excludes !== undefined && { [excludes]: undefined }) })
      }
    />
  )
}

/** A filter in the address, typed in. */
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

const LABELS = { from: 'From', to: 'To' } as const

/** Start and end of a range, in the operator's zone; in the address as UTC. */
export function FilterRange({
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
            <MomentInput
              {...attributes}
              label={LABELS[name]}
              value={inputOf(range[name], zone)}
              onChange={(value) => setQuery({ [name]: isoOf(value, zone) })}
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
