import { Fragment } from 'preact'

/**
 * A text from outside (an id, a name, a message): kept apart from the words around it, whatever
 * direction its letters run in. `title` shows it whole where it is cut off.
 */
export function Isolated({ children, class: name }: { children: string; class?: string }) {
  return (
    <bdi class={name === undefined ? 'text' : `text ${name}`} title={children}>
      {children}
    </bdi>
  )
}

/** Several of them, each on its own. */
export function IsolatedList({ children }: { children: readonly string[] }) {
  return children.map((text, index) => (
    <Fragment key={text}>
      {index > 0 && ', '}
      <Isolated>{text}</Isolated>
    </Fragment>
  ))
}

/** The same for places that take no markup: options and titles. */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`
}

/** The name of what a button is for, which its row shows: only for screen readers. */
export function UnseenName({ children }: { children: string }) {
  return (
    <span class="unseen">
      {' '}
      <Isolated>{children}</Isolated>
    </span>
  )
}
