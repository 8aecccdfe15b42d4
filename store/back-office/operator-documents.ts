import type { Operator } from '../back-office.ts'
import type { Documents, Found } from '../documents.ts'
import type { OperatorDocument } from './kinds.ts'
import type { Rights } from './rights.ts'

/** The operator with this e-mail, ignoring case. */
export async function byEmail(
  operators: Documents<OperatorDocument>,
  email: string,
): Promise<Found<OperatorDocument> | undefined> {
  const where = { emailLowerCase: email.toLowerCase() }
  const [operator] = await operators.find({ index: 'email', where, limit: 1 })
  return operator
}

export function documentOf({
  id,
  accountId,
  email,
  role,
  passwordHash,
  createdAt,
}: Operator): OperatorDocument {
  const emailLowerCase = email.toLowerCase()
  const document = { id, accountId, email, emailLowerCase, passwordHash, createdAt }
  return role === 'dispatcher' ? { ...document, dispatcher: true } : document
}

export function operatorOf(
  { id, accountId, email, dispatcher, passwordHash, createdAt }: OperatorDocument,
  rights: (operatorId: string) => Rights,
): Operator {
  const { isAdmin, platform } = rights(id)
  const role = isAdmin ? 'admin' : dispatcher === true ? 'dispatcher' : 'viewer'
  return { id, accountId, email, role, platform, passwordHash, createdAt }
}
