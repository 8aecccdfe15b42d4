import { isSos, type ApiFact } from './device-facts.ts'

/** How an operator has handled a fact. */
export type ApiHandling = NonNullable<ApiFact['handling']>

/** Whether somebody must handle such a fact. */
export function isHandled({ type }: ApiFact): boolean {
  return type === 'alarm.reported' || type === 'rule.raised'
}

/** Returns the newer of two versions, from a list and from the stream: either may arrive first. */
export function pickLaterHandling(
  one: ApiHandling | undefined,
  other: ApiHandling | undefined,
): ApiHandling | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.at > other.at ? one : other
}

/** Whether a fact is a call for help that is still open. */
export function isOpenSos({ type, alarm = '' }: ApiFact, handling?: ApiHandling): boolean {
  return type === 'alarm.reported' && isSos(alarm) && handling?.state !== 'closed'
}

/** Lists what this operator may do about a fact; admins may also release alarms taken by others. */
export function handlingCalls(
  handling: ApiHandling | undefined,
  { email, role }: { readonly email: string; readonly role: string },
): readonly ('take' | 'close' | 'release')[] {
  if (handling === undefined || handling.state === 'released') return ['take', 'close']
  const isOwn = handling.operator === email
  const mayRelease = isOwn || role === 'admin'
  return [
    ...(isOwn && handling.state === 'taken' ? ['close' as const] : []),
    ...(mayRelease ? ['release' as const] : []),
  ]
}

/** `Taken by ana@example.org`; undefined if nobody has taken it. */
export function handlingText(handling: ApiHandling | undefined, email: string): string | undefined {
  if (handling === undefined || handling.state === 'released') return undefined
  const by = handling.operator === email ? 'you' : handling.operator
  return `${handling.state === 'taken' ? 'Taken' : 'Closed'} by ${by}`
}
