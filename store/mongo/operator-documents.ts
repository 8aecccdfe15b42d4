import type { Collection } from 'mongodb'
import type { Operator } from '../back-office.ts'
import type { OperatorDocument } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

/** False where the e-mail is taken, in whatever case. */
export async function insertOperator(
  operators: Collection<OperatorDocument>,
  operator: Operator,
): Promise<boolean> {
  try {
    await operators.insertOne(operatorDocument(operator))
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

export function operatorDocument({ id, createdAt, ...fields }: Operator): OperatorDocument {
  return {
    ...fields,
    _id: id,
    emailLowerCase: fields.email.toLowerCase(),
    createdAt: new Date(createdAt),
  }
}

export function operatorOf({
  _id,
  createdAt,
  emailLowerCase: _emailLowerCase,
  first: _first,
  ...fields
}: OperatorDocument): Operator {
  return { ...fields, id: _id, createdAt: createdAt.getTime() }
}
