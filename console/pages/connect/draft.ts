import { computed } from '@preact/signals'
import { serverNow } from '../../api/client.ts'
import { me } from '../../api/session.ts'
import { kept } from '../../parts/preferences.ts'

/** How far somebody has come in connecting a device: all but the secret, for when they come back. */
export type Draft = {
  readonly deviceId: string
  readonly sender: string
  readonly key?: { readonly id: string; readonly name: string; readonly hint: string } | undefined
  /** What came before this is not of interest, ISO 8601. */
  readonly since: string
}

/** The quickest way to see whether address and key are right. */
const FIRST_SENDER = 'curl'
const CLOCK_OFF_MS = 3_000
/** When the console was opened, so that what has arrived since stays so. */
const openedAt = justNow()
const stored = kept('connect', '', (text) => text)

/** Of the operator who is signed in. */
export const draft = computed<Draft>(() => {
  const { of, ...known } = parsed(stored.value)
  return {
    sender: FIRST_SENDER,
    deviceId: 'my-device',
    since: openedAt,
    ...(of === owner() && known),
  }
})

export function changeDraft(change: Partial<Draft>): void {
  stored.value = JSON.stringify({ of: owner(), ...draft.value, ...change })
}

/** The server's time, as well as it is known here, less what it may be off. */
export function justNow(): string {
  return new Date(serverNow() - CLOCK_OFF_MS).toISOString()
}

function owner(): string {
  return me.value?.operator.id ?? ''
}

function parsed(text: string): Partial<Draft> & { of?: string } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
