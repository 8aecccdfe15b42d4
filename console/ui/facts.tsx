import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Names and values; a fact whose value is undefined is omitted. */
export function Facts({
  of: facts,
  class: name = 'facts stack tight',
}: {
  of: readonly Fact[]
  class?: string
}) {
  return (
    <dl class={name}>
      {facts.map(([title, value], index) =>
        value === undefined ? null : (
          <div key={index}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
