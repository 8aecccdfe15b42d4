import { useState } from 'preact/hooks'

type TextEvent = { readonly currentTarget: { readonly value: string } }

/**
 * The attributes of a field whose value also comes from elsewhere. The field keeps what is being typed, even when the
 * page is rendered again.
 *
 * @param take gets what was typed, and returns false while that is incomplete.
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
