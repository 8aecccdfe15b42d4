import { ApiError } from '../../runtime/errors.ts'
import type { ApiKey } from '../../store/back-office.ts'

/** @throws {ApiError} 404 if the account has no such key. */
export function requireKey(key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw new ApiError('NOT_FOUND', 'there is no key with this id')
  return key
}
