import type { ComponentChildren } from 'preact'
import { UnseenName } from './isolated.tsx'

export type Column<T> = {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
}

/**
 * A table of things. On a narrow screen each row is a card, whose cells carry the columns' titles.
 *
 * @param caption names the table for screen readers.
 */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
}) {
  return (
    <table class="box">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" class={isNumber === true ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell, isNumber }) => (
              <td key={title} data-title={title} class={isNumber === true ? 'number' : undefined}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type RowButton = {
  readonly word: string
  readonly run: () => void
  readonly isDangerous?: boolean
}

/** A column of buttons that change the row's object; screen readers hear its name with each. */
export function changeColumn<T>(
  nameOf: (row: T) => string,
  buttonsOf: (row: T) => readonly RowButton[],
): Column<T> {
  return {
    title: 'Change',
    cell: (row) => {
      const buttons = buttonsOf(row).map(({ word, run, isDangerous = false }) => (
        <button
          key={word}
          type="button"
          class={isDangerous ? 'small danger' : 'small'}
          onClick={run}
        >
          {word}
          <UnseenName>{nameOf(row)}</UnseenName>
        </button>
      ))
      return buttons.length === 0 ? null : <div class="row-actions">{buttons}</div>
    },
  }
}
