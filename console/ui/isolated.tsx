import { Fragment } from 'preact'

/**
 * An external text (an id, a name, a message), isolated from the text around it, so that its
 * writing direction does not matter. `title` shows it in full if it is truncated.
 */
export function Isolated({ children, class: name }: { children: string; class?: string }) {
  return (
    <bdi class={name === undefined ? 'text' : `text ${name}`} title={children}>
      {children}
    </bdi>
  )
}

/** Several device ids, each isolated; above `most` their number, and the ids in its title. */
export function IsolatedList({ children, most }: { children: readonly string[]; most: number }) {
  if (children.length > most) {
    return <span title={children.map(isolate).join('\n')}>{children.length} devices</span>
  }
  return children.map((text, index) => (
    <Fragment key={text}>
      {index > 0 && ', '}
      <Isolated>{text}</Isolated>
    </Fragment>
  ))
}

/** Isolates a text where no markup is accepted: options and titles. */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`
}

/**
 * The name of the thing a button acts on, for screen readers only: sighted users see it in the row.
 */
export function UnseenName({ children }: { children: string }) {
  return (
    <span class="unseen">
      {' '}
      <Isolated>{children}</Isolated>
    </span>
  )
}
