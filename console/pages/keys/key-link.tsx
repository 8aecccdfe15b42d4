import { addressOf, keyPath } from '../../core/address.ts'
import { Isolated } from '../../ui/isolated.tsx'

/** The name of a key, which leads to its page. */
export function KeyLink({ of: { id, name } }: { of: { id: string; name: string } }) {
  return (
    <a href={addressOf(keyPath(id))}>
      <Isolated>{name}</Isolated>
    </a>
  )
}
