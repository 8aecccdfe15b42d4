import type { ComponentChildren } from 'preact'
import { Field, type FieldAttributes } from './form.tsx'
import { Isolated } from './isolated.tsx'

/** Values and their labels. */
export type Choices = readonly (readonly [value: string, words: string])[]

/** A choice of one value. Without `onChange` it belongs to a form, and `value` is its default. */
export function Select({
  options,
  value,
  onChange,
  ...attributes
}: Partial<FieldAttributes> & {
  options: Choices
  value: string
  onChange?: ((value: string) => void) | undefined
  'aria-label'?: string
}) {
  const state = onChange === undefined ? { defaultValue: value } : { value }
  return (
    <select
      {...attributes}
      {...state}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
    >
      {options.map(([one, words]) => (
        <option key={one} dir="auto" value={one} selected={one === value}>
          {words}
        </option>
      ))}
    </select>
  )
}

export function SelectField({
  name,
  label,
  hint,
  ...select
}: {
  name: string
  label: string
  hint?: ComponentChildren
  options: Choices
  value: string
  onChange?: (value: string) => void
}) {
  return (
    <Field name={name} label={label} hint={hint}>
      {(attributes) => <Select {...attributes} {...select} />}
    </Field>
  )
}

/** A choice of several values, each with a box to tick. */
export function CheckGroup({
  options,
  chosen,
  set,
  class: classes,
  ...field
}: {
  name: string
  label: string
  hint?: ComponentChildren
  class?: string
  options: Choices
  chosen: readonly string[]
  /** Called with the chosen values, in the order of the options. */
  set: (chosen: string[]) => void
}) {
  return (
    <Field {...field}>
      {({ id, name, ...described }) => (
        <div id={id} role="group" aria-label={field.label} class={classes} {...described}>
          {options.map(([value, words]) => (
            <label key={value} class="check">
              <input
                type="checkbox"
                name={name}
                checked={chosen.includes(value)}
                onChange={({ currentTarget: { checked } }) =>
                  set(
                    options
                      .map(([one]) => one)
                      .filter((one) => (one === value ? checked : chosen.includes(one))),
                  )
                }
              />
              <Isolated>{words}</Isolated>
            </label>
          ))}
        </div>
      )}
    </Field>
  )
}
