import { useEffect, useState } from 'preact/hooks'
import { TriangleAlert } from 'lucide'
import { ApiFailure, toFailure, sentence } from '../../core/failure.ts'
import { api } from '../../api/client.ts'
import { may } from '../../live/session.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { go, place } from '../../ui/router.ts'
import { changeDraft, justNow, type Draft } from './draft.ts'
import { readHandoff, type Handoff } from './handoff.ts'

/**
 * The key in a link or QR code: used once the service confirms that it belongs to this account,
 * otherwise only after a question. Anybody can make such a link, with a key of their own account.
 */
export function BroughtKey({ onSecret }: { onSecret: (secret: string) => void }) {
  const [brought, setBrought] = useState<Handoff & { readonly why: string }>()
  useEffect(() => {
    const handoff = readHandoff(place.value.hash)
    if (handoff === undefined) return
    // The key must not stay in the address and the history.
    go(place.value.path, { replace: true })
    identify(handoff.key).then(
      (key) => use(handoff, key),
      (thrown: unknown) => setBrought({ ...handoff, why: reason(thrown) }),
    )
  }, [])

  function use({ key: secret, deviceId, sender }: Handoff, key?: Draft['key']): void {
    changeDraft({ deviceId, sender, since: justNow(), key })
    onSecret(secret)
    setBrought(undefined)
  }

  if (brought === undefined) return null
  return (
    <div class="notice warn row" role="alert">
      <Icon of={TriangleAlert} />
      <p>
        This link has a key for <Isolated class="strong">{brought.deviceId}</Isolated>.{' '}
        {brought.why} With someone else’s key, the device reports to them, not to you.
      </p>
      <button type="button" class="primary" onClick={() => setBrought(undefined)}>
        Discard the key
      </button>
      <button type="button" onClick={() => use(brought)}>
        Use it anyway
      </button>
    </div>
  )
}

async function identify(secret: string): Promise<Draft['key']> {
  if (!may('keys.edit')) throw new Error('only admins can see whose key it is')
  const { id, name, hint } = await api.post('/keys/identify', { body: { key: secret } })
  return { id, name, hint }
}

function reason(thrown: unknown): string {
  if (thrown instanceof ApiFailure && thrown.status === 404)
    return 'It is not a key of your account.'
  return `Its account could not be checked: ${sentence(toFailure(thrown).message)}`
}
