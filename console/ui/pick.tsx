import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { X } from 'lucide'
import type { Choices } from './choice-fields.tsx'
import { Field, type FieldAttributes } from './form.tsx'
import { Icon } from './icon.tsx'
import { Isolated, UnseenName } from './isolated.tsx'
import { useKeys } from './keys.tsx'
import { FailedLine } from './states.tsx'
import { useLoad } from './use-load.ts'

/** A search result. */
export type PickOption = {
  readonly value: string
  readonly words: string
  /** Additional text, such as the id of a named thing. */
  readonly note?: string | undefined
}

/** Finds matches for a typed text; for an empty text, the first options. */
export type FindOptions = {
  (typed: string, signal: AbortSignal): Promise<readonly PickOption[]>
  /** A new number means that the options have changed, and repeats the search. */
  readonly version?: number
}

const TYPED_MS = 200
const MOST = 50

/** The options that contain all typed words. */
export function findIn(choices: Choices): FindOptions {
  const find = (typed: string) => {
    const words = typed.toLowerCase().split(/\s+/)
    const found = choices.filter(([, text]) => {
      const lower = text.toLowerCase()
      return words.every((word) => lower.includes(word))
    })
    return Promise.resolve(found.slice(0, MOST).map(([value, text]) => ({ value, words: text })))
  }
  return Object.assign(find, { version: choices.length })
}

/**
 * A field that searches while typing, and selects one of the matches: for lists too long to show.
 */
export function PickInput({
  attributes,
  shown,
  placeholder,
  find,
  onPick,
}: {
  attributes: FieldAttributes
  /** The label of the selection; empty if nothing is selected. */
  shown: string
  placeholder: string
  find: FindOptions
  /** Without an option: the field was cleared. */
  onPick: (option: PickOption | undefined) => void
}) {
  const list = useId()
  const [typed, setTyped] = useState<string>()
  const [at, setAt] = useState(0)
  /** Enter was pressed before the search had a result. */
  const [isEager, setEager] = useState(false)
  const isOpen = typed !== undefined
  const q = useDebounced((typed ?? '').trim(), TYPED_MS)
  const { data, failure, isLoading } = useLoad<readonly PickOption[]>(
    (signal) => (isOpen ? find(q, signal) : Promise.resolve([])),
    [isOpen, q, find.version],
  )
  const options = data ?? []
  const isFound = isOpen && !isLoading && q === typed.trim()

  function pick(option: PickOption | undefined): void {
    setTyped(undefined)
    setEager(false)
    onPick(option)
  }

  function leave(): void {
    if (typed?.trim() === '' && shown !== '') pick(undefined)
    setTyped(undefined)
    setEager(false)
  }

  useEffect(() => {
    if (!isEager || !isFound) return
    setEager(false)
    if (options[0] !== undefined) pick(options[0])
  }, [isEager, isFound])

  function takeMatch(): void {
    if (typed?.trim() === '' && at === 0 && shown !== '') pick(undefined)
    else if (isFound && options[at] !== undefined) pick(options[at])
    else setEager(true)
  }

  function step(by: 1 | -1): void {
    if (!isOpen) setTyped('')
    else setAt((at + by + options.length) % Math.max(1, options.length))
  }

  const input = useRef<HTMLInputElement>(null)
  useKeys(
    {
      ArrowDown: { label: 'Next match', run: () => step(1) },
      // Enter and Esc belong to the form or dialog around it while nothing is searched.
      ...(isOpen && {
        ArrowUp: { label: 'Match before', run: () => step(-1) },
        Enter: { label: 'Take the match', run: takeMatch },
        Escape: { label: 'Close the matches', run: () => setTyped(undefined) },
      }),
    },
    { title: 'In a search of a form or filter', element: input },
  )

  return (
    <span class="pick">
      <input
        {...attributes}
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-autocomplete="list"
        aria-expanded={isOpen && options.length > 0}
        aria-controls={list}
        aria-activedescendant={isOpen && options[at] ? `${list}-${at}` : undefined}
        autoComplete="off"
        spellcheck={false}
        maxLength={128}
        placeholder={placeholder}
        value={typed ?? shown}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setAt(0)
        }}
        onClick={() => shown === '' && typed === undefined && setTyped('')}
        onBlur={leave}
      />
      <ul
        id={list}
        role="listbox"
        aria-label="Found"
        class="floating"
        hidden={options.length === 0}
      >
        {isOpen &&
          options.map(({ value, words, note }, index) => (
            <li
              key={value}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(options[index])}
            >
              <Isolated class="one-line">{words}</Isolated>
              {note !== undefined && <Isolated class="one-line note">{note}</Isolated>}
            </li>
          ))}
      </ul>
      {isFound && options.length === 0 && failure === undefined && (
        <span class="note" role="status">
          Nothing matches.
        </span>
      )}
      {failure !== undefined && <FailedLine failure={failure} />}
    </span>
  )
}

/** A choice of any number of things from a list too long to show. */
export function PickMany({
  find,
  chosen,
  wordsOf,
  set,
  placeholder = 'Name',
  hint,
  ...field
}: {
  name: string
  label: string
  /** Shown while nothing is chosen. */
  hint?: string
  placeholder?: string
  find: FindOptions
  chosen: readonly string[]
  wordsOf: (value: string) => string
  set: (chosen: readonly string[]) => void
}) {
  const findOthers = async (typed: string, signal: AbortSignal) =>
    (await find(typed, signal)).filter(({ value }) => !chosen.includes(value))
  return (
    <div class="stack tight">
      <Field {...field} hint={chosen.length === 0 ? hint : undefined}>
        {(attributes) => (
          <PickInput
            attributes={attributes}
            shown=""
            placeholder={placeholder}
            find={Object.assign(findOthers, { version: find.version ?? 0 })}
            onPick={(one) => one !== undefined && set([...chosen, one.value])}
          />
        )}
      </Field>
      {chosen.length > 0 && (
        <ul class="picked row" aria-label={`Chosen: ${field.label}`}>
          {chosen.map((value) => (
            <li key={value} class="box row tight">
              <Isolated class="one-line">{wordsOf(value)}</Isolated>
              <button
                type="button"
                class="plain small"
                onClick={() => set(chosen.filter((one) => one !== value))}
              >
                <Icon of={X} small />
                <span class="unseen">Remove</span>
                <UnseenName>{wordsOf(value)}</UnseenName>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The text once it has stopped changing for `ms`. */
export function useDebounced(text: string, ms: number): string {
  const [later, setLater] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return later
}
