import { buffer } from 'node:stream/consumers'
import { newPasswordRule } from '../admin-api/sign-in/credential-rules.ts'
import { generatePassword } from '../admin-api/sign-in/password.ts'

const RULE = newPasswordRule('the password on standard input').required()

export type NewPassword = { readonly password: string; readonly isGenerated: boolean }

/**
 * What stands on standard input, without the end of its last line; made up where that is a terminal.
 * @throws {Error} where it breaks the rules of passwords.
 */
export async function newPassword(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
): Promise<NewPassword> {
  if (input.isTTY === true) return { password: generatePassword(), isGenerated: true }
  const password = decoded(await buffer(input)).replace(/\r?\n$/, '')
  const { error } = RULE.validate(password)
  if (error !== undefined) throw new Error(error.message)
  return { password, isGenerated: false }
}

/** With replaced characters it would be a password that nobody can type. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error('the password on standard input must be UTF-8', { cause: error })
  }
}
