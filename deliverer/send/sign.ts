import { createHmac } from 'node:crypto'
import { SIGNING_SECRET_PREFIX } from '../../schemas/access/signing-secret.ts'

/**
 * The headers by which receivers verify a webhook, as https://www.standardwebhooks.com has them. `id`: the same for
 * every attempt; `now`: the time of this one. A receiver that knows one of the secrets accepts it.
 */
export function signedHeaders(
  body: string,
  { id, now, secrets }: { id: string; now: number; secrets: readonly string[] },
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SIGNING_SECRET_PREFIX.length), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
    return `v1,${signature.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
