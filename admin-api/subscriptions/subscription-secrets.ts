import { ApiError, unavailable } from '../../runtime/errors.ts'
import { UnsealingError, type SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type {
  DeviceSubscription,
  SubscriptionSecrets,
} from '../../schemas/subscriptions/subscription.ts'

/** @throws {ApiError} 503 if secrets cannot be encrypted. */
export function requireSecrets({
  secrets,
}: {
  readonly secrets: SealedSecrets | undefined
}): SealedSecrets {
  if (secrets !== undefined) return secrets
  throw unavailable('subscriptions need a key to encrypt their secrets with: set SECRETS_KEY')
}

export function seal(secrets: SealedSecrets, id: string, content: SubscriptionSecrets): string {
  return secrets.seal(JSON.stringify(content), id)
}

/** @throws {ApiError} 409 if another key encrypted them. */
export function openSecrets(
  secrets: SealedSecrets,
  { sealed, id }: Pick<DeviceSubscription, 'sealed' | 'id'>,
): SubscriptionSecrets {
  try {
    return JSON.parse(secrets.open(sealed, id)) as SubscriptionSecrets
  } catch (error) {
    if (!(error instanceof UnsealingError)) throw error
    const message = `${error.message}; or delete the subscription and make it again`
    throw new ApiError('CONFLICT', message)
  }
}
