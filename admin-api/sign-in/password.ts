import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto'
import { unavailable, type ApiError } from '../../runtime/errors.ts'
import { Slots } from '../../runtime/limits/slots.ts'

const COST = { log2N: 15, r: 8, p: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/

/**
 * Hashes a password for storage: scrypt with a random salt, in PHC string format, which includes
 * the cost so that it can be raised later.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return formatStoredHash(salt, await derive(password, salt, HASH_BYTES, COST))
}

/** A password with about 143 random bits. */
export function generatePassword(): string {
  return Array.from({ length: 24 }, () => BASE62[randomInt(62)]).join('')
}

/** Whether two passwords match the same hash. */
export function areSamePassword(one: string, other: string): boolean {
  return normalizePassword(one) === normalizePassword(other)
}

/** Whether `password` matches `hash`. @throws {Error} if `hash` is malformed. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [, log2N, r, p, salt, expected] = SHAPE.exec(hash) ?? []
  if (salt === undefined || expected === undefined) {
    throw new Error('a stored password hash has an unknown format')
  }
  const wanted = Buffer.from(expected, 'base64')
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) }
  const got = await derive(password, Buffer.from(salt, 'base64'), wanted.length, cost)
  return timingSafeEqual(got, wanted)
}

/** No password matches it; checking against it takes as long as against a real hash. */
export const NOBODYS_HASH = formatStoredHash(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES))

function formatStoredHash(salt: Buffer, hash: Buffer): string {
  const { log2N, r, p } = COST
  return `$scrypt$ln=${log2N},r=${r},p=${p}$${removePadding(salt)}$${removePadding(hash)}`
}

/** Systems encode the same typed password differently (é as one code point or two). */
function normalizePassword(password: string): string {
  return password.normalize('NFKC')
}

function removePadding(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function derive(
  password: string,
  salt: Buffer,
  bytes: number,
  { log2N, r, p }: typeof COST,
): Promise<Buffer> {
  const N = 2 ** log2N
  return new Promise((resolve, reject) => {
    scrypt(
      normalizePassword(password),
      salt,
      bytes,
      { N, r, p, maxmem: 256 * N * r },
      (error, key) => (error === null ? resolve(key) : reject(error)),
    )
  })
}

/** The queue of all password work, by client: see `clientOf`. */
export type PasswordTurns = Pick<Slots, 'run'>

/**
 * Hashing a password takes a core for about a tenth of a second, which must not starve other work.
 * Clients take turns, each with a limited share of the queue, so no client can lock others out.
 */
export function passwordTurns(): PasswordTurns {
  return new Slots({
    most: 2,
    waiting: 50,
    // Equal to the failures allowed per address: see `SignInThrottle`.
    waitingEach: 30,
    refusal: tooManyPasswordChecks,
  })
}

export function tooManyPasswordChecks(): ApiError {
  return unavailable('too many are signing in right now, please try again')
}
