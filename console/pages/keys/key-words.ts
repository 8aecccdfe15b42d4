import type { components } from '../../api/schema.ts'
import { fieldFailure } from '../../core/failure.ts'
import { fromInput } from '../../core/times.ts'

export type Key = components['schemas']['Key']
export type KeyWithSecret = components['schemas']['KeyWithSecret']
export type KeyScope = Key['scopes'][number]

export const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  'positions:write': 'Send reports',
  'positions:import': 'Import history',
  'positions:read': 'Read positions',
  'devices:read': 'Read devices',
  admin: 'Full admin access',
}

export const SCOPE_NAMES = Object.keys(SCOPE_WORDS) as readonly KeyScope[]

export const KEY_STATUS_WORDS: Readonly<Record<Key['status'], string>> = {
  active: 'Active',
  rotating: 'Secret replaced',
  expired: 'Expired',
  revoked: 'Revoked',
}

/** `Send reports, read devices`. */
export function scopeWords(scopes: readonly KeyScope[]): string {
  const words = SCOPE_NAMES.filter((scope) => scopes.includes(scope)).map(
    (scope) => SCOPE_WORDS[scope],
  )
  return words.join(', ').replace(/(?<=, )./g, (letter) => letter.toLowerCase())
}

/** The limits of a key from the fields of a form; empty fields set no limit. */
export function readLimits(values: Readonly<Record<string, string>>, zone: string) {
  const { name = '', expiresAt = '', deviceIds = '', rateLimit = '' } = values
  return {
    name: name.trim(),
    expiresAt: expiresAt === '' ? null : isoOf(expiresAt, zone),
    deviceIds: linesOf(deviceIds),
    rateLimit: rateLimit.trim() === '' ? null : numberOf(rateLimit),
  }
}

function isoOf(text: string, zone: string): string {
  const ms = fromInput(text, zone)
  if (ms === undefined)
    throw fieldFailure('expiresAt', 'Enter a date and a time, or leave both empty.')
  return new Date(ms).toISOString()
}

/** JSON has no NaN: it would arrive as null, which removes the limit. */
function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number))
    throw fieldFailure('rateLimit', 'Enter a whole number, or leave it empty.')
  return number
}

function linesOf(text: string): string[] | null {
  const lines = text.split('\n').flatMap((line) => line.trim() || [])
  return lines.length === 0 ? null : [...new Set(lines)]
}
