import { api } from '../../api/client.ts'
import { isAdmin } from '../../api/session.ts'
import { go, place } from '../../parts/router.ts'
import { changeDraft, justNow } from './draft.ts'
import { readHandoff } from './handoff.ts'

/** Goes on with what a QR code brought, and takes the key out of the address and the history. */
export function takeHandoff(onSecret: (secret: string) => void): void {
  const handoff = readHandoff(place.value.hash)
  if (handoff === undefined) return
  go(place.value.path, { replace: true })
  const { key: secret, deviceId, sender } = handoff
  changeDraft({ deviceId, sender, since: justNow() })
  onSecret(secret)
  if (!isAdmin.value) return
  api.post('/keys/identify', { body: { key: secret } }).then(
    ({ id, name, hint }) => changeDraft({ key: { id, name, hint } }),
    // A key of another account works all the same, only its refusals are not seen here.
    () => undefined,
  )
}
