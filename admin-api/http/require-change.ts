import { invalidParams } from '../../runtime/errors.ts'
import type { Rules } from './rule.ts'

/** @throws {ApiError} 400 if a change names no field that can be changed. */
export function requireChange(change: object, fields: Rules): void {
  if (Object.keys(change).length > 0) return
  const message = `the body must have one or more of ${Object.keys(fields).join(', ')}`
  throw invalidParams([{ field: 'body', message }])
}
