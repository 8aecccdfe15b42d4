/** A text of a guide: what stands between backticks is to be entered or read as it is. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  )
}
