import { CopyButton } from './copy-button.tsx'

/** A secret that is shown only this once. `what` names it: "API key". */
export function Secret({ text, what = 'API key' }: { text: string; what?: string }) {
  return (
    <div class="secret row">
      <textarea
        readOnly
        rows={1}
        spellcheck={false}
        aria-label={what}
        onFocus={({ currentTarget }) => currentTarget.select()}
      >
        {text}
      </textarea>
      <CopyButton text={text} what={what} />
    </div>
  )
}
