import { buffer } from 'node:stream/consumers'
import { newPasswordRule } from '../../admin-api/sign-in/credential-rules.ts'
import { generatePassword } from '../../admin-api/sign-in/password.ts'

const RULE = newPasswordRule('the password on standard input').required()

export type NewPassword = { readonly password: string; readonly isGenerated: boolean }

/**
 * Reads the password from standard input, without the final line break; generates one on a terminal.
 * @throws {Error} if the password breaks the rules.
 */
export async function newPassword(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
): Promise<NewPassword> {
  if (input.isTTY === true) return { password: generatePassword(), isGenerated: true }
  const password = decoded(await buffer(input)).replace(/\r?\n$/, '')
  const checked = RULE.check(password, { field: 'password', now: 0 })
  if ('faults' in checked) throw new Error(checked.faults[0]?.message)
  return { password: checked.made, isGenerated: false }
}

/** Not decoded leniently: with replacement characters nobody could type the password. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error('the password on standard input must be UTF-8', { cause: error })
  }
}
