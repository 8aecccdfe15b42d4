import type { Operator } from '../operators.ts'
import type { DocumentStore, Revisioned } from '../documents.ts'
import type { OperatorDocument } from './kinds.ts'
import type { Rights } from './rights.ts'

/** The operator with this e-mail, ignoring case. */
export async function findDocumentByEmail(
  operators: DocumentStore<OperatorDocument>,
  email: string,
): Promise<Revisioned<OperatorDocument> | undefined> {
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
  mustChangePassword,
  signedIn,
  createdAt,
}: Operator): OperatorDocument {
  return {
    id,
    accountId,
    email,
    emailLowerCase: email.toLowerCase(),
    passwordHash,
    createdAt,
    ...(role === 'dispatcher' && { dispatcher: true }),
    ...(mustChangePassword && { mustChangePassword }),
    ...(signedIn !== undefined && { signedIn }),
  }
}

export function operatorOf(
  {
    id,
    accountId,
    email,
    dispatcher,
    passwordHash,
    mustChangePassword,
    signedIn,
    createdAt,
  }: OperatorDocument,
  rights: (operatorId: string) => Rights,
): Operator {
  const { isAdmin, platform } = rights(id)
  const role = isAdmin ? 'admin' : dispatcher === true ? 'dispatcher' : 'viewer'
  return {
    id,
    accountId,
    email,
    role,
    platform,
    passwordHash,
    createdAt,
    ...(mustChangePassword && { mustChangePassword }),
    ...(signedIn !== undefined && { signedIn }),
  }
}
