import type { components } from '../../api/schema.ts'
import { faultAt } from '../../core/failure.ts'
import { fromInput } from '../../core/zoned-input.ts'

export type Key = components['schemas']['Key']
export type KeyWithSecret = components['schemas']['KeyWithSecret']
export type Scope = Key['scopes'][number]

export const SCOPES: readonly { readonly scope: Scope; readonly words: string }[] = [
  { scope: 'positions:write', words: 'Send reports' },
  { scope: 'positions:import', words: 'Import history' },
  { scope: 'positions:read', words: 'Read positions' },
  { scope: 'devices:read', words: 'Read devices' },
  { scope: 'admin', words: 'Full admin access' },
]

export const STATUS_WORDS: Readonly<Record<Key['status'], string>> = {
  active: 'Active',
  rotating: 'Rotating',
  expired: 'Expired',
  revoked: 'Revoked',
}

export function scopeWords(scopes: readonly Scope[]): string {
  return SCOPES.filter(({ scope }) => scopes.includes(scope))
    .map(({ words }, index) => (index === 0 ? words : words.toLowerCase()))
    .join(', ')
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
  if (ms === undefined) throw faultAt('expiresAt', 'Enter date and time, or leave both empty')
  return new Date(ms).toISOString()
}

/** JSON has no NaN: it would arrive as null, which removes the limit. */
function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number))
    throw faultAt('rateLimit', 'Enter a whole number, or leave it empty')
  return number
}

function linesOf(text: string): string[] | null {
  const lines = text.split('\n').flatMap((line) => line.trim() || [])
  return lines.length === 0 ? null : [...new Set(lines)]
}
