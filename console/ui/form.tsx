import { createContext, type ComponentChildren, type ComponentProps } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import {
  fieldFailure,
  toFailure,
  faultText,
  type ApiFailure,
  type FieldFault,
} from '../core/failure.ts'
import { FailedLine } from './states.tsx'

export type Values = Readonly<Record<string, string>>

/** The faults of a form's fields, and the empty fields. */
type FormFaults = {
  readonly faults: ReadonlyMap<string, FieldFault>
  readonly empty: ReadonlySet<string>
}

const Faults = createContext<FormFaults>({ faults: new Map(), empty: new Set() })

/**
 * A form that calls the API. The API's messages about a field appear at the field of that `name`;
 * all others appear above the button. While the call runs, the button is disabled.
 *
 * @param submit gets the form's values; a failure that it throws is shown.
 */
export function Form({
  submit,
  button,
  cancel,
  danger = false,
  children,
}: {
  submit: (values: Values) => Promise<void>
  button: string
  cancel?: () => void
  danger?: boolean
  children: ComponentChildren
}) {
  const [failure, setFailure] = useState<ApiFailure>()
  const [isRunning, setRunning] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const empty = useRef<ReadonlySet<string>>(new Set())
  const names = fieldNames(form.current)
  const faults = new Map(
    (failure?.details ?? []).map((fault) => [
      names.has(fault.field) ? fault.field : (fault.field.split(/[.[]/)[0] ?? ''),
      fault,
    ]),
  )
  const isShownAtFields = faults.size > 0 && [...faults.keys()].every((name) => names.has(name))

  function run(event: Event) {
    event.preventDefault()
    if (isRunning || form.current === null) return
    setRunning(true)
    setFailure(undefined)
    Promise.resolve(form.current)
      .then(refuseHalfFilled)
      .then((values) => {
        empty.current = new Set(Object.keys(values).filter((name) => values[name]?.trim() === ''))
        return submit(values)
      })
      .then(
        () => setRunning(false),
        (thrown: unknown) => {
          setFailure(toFailure(thrown))
          setRunning(false)
          requestAnimationFrame(() =>
            form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
          )
        },
      )
  }

  return (
    <form ref={form} class="stack" noValidate onSubmit={run}>
      <Faults.Provider value={{ faults, empty: empty.current }}>{children}</Faults.Provider>
      {failure !== undefined && !isShownAtFields && <FailedLine failure={failure} />}
      <div class="form-buttons row">
        <button type="submit" class={danger ? 'primary danger' : 'primary'} disabled={isRunning}>
          {button}
        </button>
        {cancel !== undefined && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}

export type FieldAttributes = {
  readonly id: string
  readonly name: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

/**
 * A form field: label, hint, error. `children` renders the control with the attributes that
 * connect it to them; without `children` the control is a text box.
 */
export function Field({
  name,
  label,
  hint,
  children,
  ...input
}: {
  name: string
  label: string
  hint?: ComponentChildren
  children?: (attributes: FieldAttributes) => ComponentChildren
} & Omit<ComponentProps<'input'>, 'children'>) {
  const id = useId()
  const { faults, empty } = useContext(Faults)
  const fault = faults.get(name)
  const faultWords = fault && faultText(fault, label, empty.has(name))
  const describedBy = [hint === undefined ? '' : `${id}-hint`, faultWords ? `${id}-fault` : '']
    .filter(Boolean)
    .join(' ')
  const attributes: FieldAttributes = {
    id,
    name,
    'aria-invalid': faultWords !== undefined,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
  }
  return (
    <div class="field stack tight">
      <label for={id}>{label}</label>
      {children === undefined ? (
        <input {...attributes} {...(input as object)} />
      ) : (
        children(attributes)
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="note">
          {hint}
        </p>
      )}
      {faultWords !== undefined && (
        <p id={`${id}-fault`} class="fault" role="alert">
          {faultWords}
        </p>
      )}
    </div>
  )
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') values[name] = value
  }
  return values
}

/** A date without its time has no value, and would count as empty. */
function refuseHalfFilled(form: HTMLFormElement): Record<string, string> {
  for (const control of form.elements) {
    if (control instanceof HTMLInputElement && control.validity.badInput) {
      throw fieldFailure(control.name, 'This date is incomplete: complete it, or clear it.')
    }
  }
  return valuesOf(form)
}

function fieldNames(form: HTMLFormElement | null): ReadonlySet<string> {
  const controls = [...(form?.elements ?? [])]
  return new Set(controls.map((control) => control.getAttribute('name') ?? ''))
}

type TextEvent = { readonly currentTarget: { readonly value: string } }

/**
 * Attributes for a field whose value other controls can also change. The field keeps what is being
 * typed, even when the page is rendered again.
 *
 * @param take gets the typed text, and returns false while it is incomplete.
 */
export function useTyped(value: string, take: (typed: string) => boolean) {
  const [typed, setTyped] = useState<string>()
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }: TextEvent) => setTyped(currentTarget.value),
    onChange: ({ currentTarget }: TextEvent) => {
      if (take(currentTarget.value)) setTyped(undefined)
    },
    onBlur: () => setTyped(undefined),
  }
}
