import type { ComponentChildren } from 'preact'
import { ActionMenu, type MenuAction } from './menu.tsx'

export type Column<T> = {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
  /** Sentences wrap; anything else stays on one line, so that rows have one height. */
  readonly isProse?: boolean
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
            {columns.map(({ title, cell, isNumber, isProse }) => (
              <td key={title} data-title={title} class={classOf(isNumber, isProse)}>
                <div>
                  <div>{cell(row)}</div>
                </div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function classOf(isNumber = false, isProse = false): string | undefined {
  if (isNumber) return 'number'
  return isProse ? 'prose' : undefined
}

/** A column with the menu of actions on the row's thing. */
export function actionColumn<T>(
  nameOf: (row: T) => string,
  actionsOf: (row: T) => readonly MenuAction[],
): Column<T> {
  return {
    title: 'Actions',
    cell: (row) => {
      const actions = actionsOf(row)
      return actions.length === 0 ? null : <ActionMenu of={nameOf(row)} actions={actions} />
    },
  }
}
