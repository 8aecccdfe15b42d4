import { computed } from '@preact/signals'
import { serverNow } from '../../api/client.ts'
import { me } from '../../live/session.ts'
import { createPreference } from '../../ui/preferences.ts'
import { idFor } from './id-for.ts'

/**
 * The progress of connecting a device: everything except the secret, stored for when the operator
 * returns.
 */
export type Draft = {
  /** The display name, which the device gets once it has reported; empty for none. */
  readonly name: string
  readonly deviceId: string
  readonly sender: string
  readonly key?: DraftKey | undefined
  /** The first report of the device that was named, so that it is named only once in its life. */
  readonly namedSince?: string | undefined
  /** Start of the wait, in ISO 8601: earlier events are ignored. */
  readonly since: string
}

type DraftKey = {
  readonly id: string
  readonly name: string
  readonly hint: string
  /** The only device for which a key created on this page may report. */
  readonly only?: string | undefined
}

const FIRST_SENDER = 'owntracks-android'
const CLOCK_OFF_MS = 3_000
/** When the console was opened, so that later reports remain visible. */
const openedAt = earliestNow()
const stored = createPreference('connect', '', (text) => text)

/** The draft of the signed-in operator. */
export const draft = computed<Draft>(() => {
  const { of, ...known } = parseJson(stored.value)
  return {
    sender: FIRST_SENDER,
    name: '',
    // Starts empty, because phones that all kept a suggested name would be one device.
    deviceId: '',
    since: openedAt,
    ...(of === owner() && known),
  }
})

export function changeDraft(change: Partial<Draft>): void {
  stored.value = JSON.stringify({ of: owner(), ...draft.value, ...change })
}

/** Renames the device. An id derived from its name changes with it. */
export function nameDevice(name: string): void {
  const isIdOfName = draft.value.deviceId === idFor(draft.value.name)
  changeDraft({ name, namedSince: undefined, ...(isIdOfName && { deviceId: idFor(name) }) })
}

/** The server's time as estimated here, minus the possible error. */
export function earliestNow(): string {
  return new Date(serverNow() - CLOCK_OFF_MS).toISOString()
}

function owner(): string {
  return me.value?.operator.id ?? ''
}

function parseJson(text: string): Partial<Draft> & { of?: string } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
