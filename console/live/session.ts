import { signal } from '@preact/signals'
import { callOnce, onSessionEnded } from '../api/client.ts'
import { ApiFailure } from '../core/failure.ts'
import type { components } from '../api/schema.ts'
import { addressOf } from '../core/address.ts'
import { roleMay, type Right as RoleRight } from '../core/session-rules.ts'

type SignedIn = components['schemas']['SignedIn']

/**
 * The signed-in operator: `undefined` until the service has responded, `null` for nobody. It
 * remains while an ended session is renewed, so that the page keeps its content.
 */
export const me = signal<SignedIn | null | undefined>(undefined)

/** Whether the dialog asks for the password because the session has ended. */
export const renewing = signal(false)

const EXTEND_EVERY_MS = 5 * 60_000
const otherTabs = new BroadcastChannel(`gps-console-session ${addressOf('/')}`)

let renewal: { promise: Promise<boolean>; settle: (renewed: boolean) => void } | undefined
let askedAt = 0

/** Reads the signed-in operator, and keeps the session alive while the page is visible. */
export async function startSession(): Promise<void> {
  onSessionEnded(askToSignIn)
  otherTabs.onmessage = ({ data }) => (data === 'ended' ? leave() : void checkSession())
  await extend()
  setInterval(extendVisible, 30_000)
  document.addEventListener('visibilitychange', extendVisible)
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    // While the browser had the page in its cache, somebody else may have signed in, or the
    // operator signed out.
    if (me.value) checkSession().catch(() => undefined)
    else location.reload()
  })
}

/** @throws {ApiFailure} 401 for a wrong e-mail or password, 429 after too many attempts. */
export async function signIn(email: string, password: string): Promise<void> {
  const before = me.value
  const next = (await callOnce('post', '/session', { body: { email, password } })) as SignedIn
  // The page's content belongs to the previous operator.
  if (before && before.operator.id !== next.operator.id) return location.reload()
  askedAt = Date.now()
  me.value = next
  settleRenewal()
  otherTabs.postMessage('begun')
}

export async function signOut(): Promise<void> {
  await callOnce('delete', '/session').catch((failure: unknown) => {
    if (!(failure instanceof ApiFailure) || failure.status !== 401) throw failure
  })
  otherTabs.postMessage('ended')
  leave()
}

/** Opens the dialog; resolves once the operator has signed in again or given up. */
export function askToSignIn(): Promise<boolean> {
  if (me.value === null || me.value === undefined) return Promise.resolve(false)
  if (renewal === undefined) {
    let settle: (renewed: boolean) => void = () => undefined
    const promise = new Promise<boolean>((resolve) => (settle = resolve))
    renewal = { promise, settle }
    renewing.value = true
  }
  return renewal.promise
}

function settleRenewal(): void {
  renewal?.settle(true)
  renewal = undefined
  renewing.value = false
}

/** The page's data and its address belong to the account, so both end with the session. */
function leave(): void {
  const isHere = Boolean(me.value)
  me.value = null
  // A share's page is the same for everybody, signed in or not.
  if (isHere && location.pathname !== addressOf('/share')) {
    location.replace(addressOf('/'))
  }
}

/** @throws {ApiFailure} if the service does not respond. */
async function extend(): Promise<void> {
  askedAt = Date.now()
  try {
    me.value = (await callOnce('get', '/session')) as SignedIn
  } catch (failure) {
    if (!(failure instanceof ApiFailure) || failure.status !== 401) throw failure
    if (me.value) await askToSignIn()
    else me.value = null
  }
}

/** Extends the session. */
export async function staySignedIn(): Promise<void> {
  await extend()
}

function extendVisible(): void {
  if (document.hidden || renewing.value || !me.value) return
  if (Date.now() - askedAt < EXTEND_EVERY_MS) return
  // Without a response the session's state is unknown; the next attempt decides.
  extend().catch(() => undefined)
}

/** Another tab may have signed in or out, as this operator or another one. */
async function checkSession(): Promise<void> {
  const before = me.value
  let next: SignedIn
  try {
    next = (await callOnce('get', '/session')) as SignedIn
  } catch (failure) {
    if (before && failure instanceof ApiFailure && failure.status === 401) leave()
    return
  }
  if (before && before.operator.id !== next.operator.id) return location.reload()
  me.value = next
  settleRenewal()
}

/** A right of a role, or of platform admins. */
export type OperatorRight = RoleRight | 'accounts.edit'

/** Whether the operator sees the controls that need this right; the API checks it again. */
export function may(right: OperatorRight): boolean {
  if (!me.value) return false
  const { role, platform } = me.value.operator
  return right === 'accounts.edit' ? platform : roleMay(role, right)
}
