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
