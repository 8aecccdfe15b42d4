import { useState } from 'preact/hooks'

type TextEvent = { readonly currentTarget: { readonly value: string } }

/**
 * The attributes of a field whose value also comes from elsewhere: while somebody types, it is theirs, whatever is
 * rendered meanwhile.
 *
 * @param take gets what was typed; false if it is not complete, and typing goes on.
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
