import { roleMay, type Right as RoleRight } from '../core/rights.ts'
import { me } from './session.ts'

/** A right of a role, or one of operators of the platform. */
export type OperatorRight = RoleRight | 'accounts.edit'

/** Whether the operator sees the controls that need this right; the API checks it again. */
export function may(right: OperatorRight): boolean {
  if (!me.value) return false
  const { role, platform } = me.value.operator
  return right === 'accounts.edit' ? platform : roleMay(role, right)
}
