import type { ComponentChildren } from 'preact'
import { Field } from './form.tsx'
import { Isolated } from './isolated.tsx'
import type { Choices } from './select-field.tsx'

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
  /** In the order of the options. */
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
