import type { ComponentChildren } from 'preact'
import { TriangleAlert } from 'lucide'
import { Icon } from '../../ui/icon.tsx'

/** Warnings about the address given to senders. */
export function AddressNotes({ address, loopback }: { address: string | null; loopback: boolean }) {
  if (address === null) {
    return (
      <Note>
        The service does not know its own address. Set <code>INGEST_PUBLIC_URL</code> where it is
        started, and enter the address below.
      </Note>
    )
  }
  if (loopback) {
    return (
      <Note>
        <code>{address}</code> can be reached only from the computer that it runs on. For phones in
        your network, start the service with <code>npm start -- --lan</code>, for others set{' '}
        <code>HOST</code> and <code>INGEST_PUBLIC_URL</code>.
      </Note>
    )
  }
  if (!address.startsWith('https:')) {
    return (
      <Note>
        <code>{address}</code> is not encrypted: anyone on the way can read the key and the
        positions. Use HTTPS outside your own network.
      </Note>
    )
  }
  return null
}

function Note({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice warn row">
      <Icon of={TriangleAlert} />
      <p>{children}</p>
    </div>
  )
}
