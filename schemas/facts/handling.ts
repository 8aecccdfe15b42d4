import { isoTime } from '../text/iso-8601.ts'
import type { FactType } from './types.ts'

/** How operators handle an alarm or a raised rule. Stored beside the fact, not in it. */
export type Handling = {
  readonly state: HandlingState
  /** The operator's e-mail, or the key's name, as it was then. */
  readonly operator: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly note?: string
}

export const HANDLING_STATES = ['taken', 'released', 'closed'] as const
export type HandlingState = (typeof HANDLING_STATES)[number]

/** A handling in the API's form, with its time as text. */
export function handlingView({ state, operator, at, note }: Handling) {
  return { state, operator, at: isoTime(at), ...(note !== undefined && { note }) }
}

/** The facts that somebody must handle. */
export const HANDLED_TYPES = ['alarm.reported', 'rule.raised'] as const satisfies FactType[]

export function isHandledType(type: FactType): boolean {
  return HANDLED_TYPES.some((one) => one === type)
}

export type HandlingCall = keyof typeof STATE_AFTER

const STATE_AFTER = { take: 'taken', release: 'released', close: 'closed' } as const

/** The actor: `id` identifies the operator or key, whatever its name. */
export type HandlingActor = {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
}

/**
 * The handling after a call. `unchanged`: it repeats an earlier one. `refused`: another operator
 * has taken or closed it. Admins may release alarms taken by others, so that no alarm waits for
 * somebody who has left.
 */
export function handleFact<Before extends Handling & { readonly operatorId: string }>(
  before: Before | undefined,
  {
    call,
    by,
    at,
    note,
  }: { call: HandlingCall; by: HandlingActor; at: number; note?: string | undefined },
): (Handling & { readonly operatorId: string }) | 'unchanged' | 'refused' {
  const state = STATE_AFTER[call]
  const isHeld = before !== undefined && before.state !== 'released'
  if (!isHeld && call === 'release') return 'unchanged'
  if (isHeld) {
    const isOwn = before.operatorId === by.id
    if (!isOwn && !(call === 'release' && by.isAdmin)) return 'refused'
    if (before.state === 'closed' && call === 'take') return 'refused'
    if (before.state === state && (note ?? before.note) === before.note) return 'unchanged'
  }
  return { state, operatorId: by.id, operator: by.name, at, ...(note !== undefined && { note }) }
}
