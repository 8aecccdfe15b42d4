import { computed, signal } from '@preact/signals'
import { api, serverNow } from '../api/client.ts'
import { isOpenSos, pickLaterHandling, type ApiHandling } from '../core/alarms.ts'
import { isSos, mergeFacts, type ApiFact } from '../core/device-facts.ts'
import { onStreamEvent } from './live.ts'

const EVERY_MS = 10_000
/** Older open calls count as history. */
const KEPT_MS = 7 * 86_400_000
const MOST_READ = 200

const reported = signal<readonly ApiFact[]>([])

/** Handlings by operators since the lists were read, by fact id. */
const changes = signal<ReadonlyMap<string, ApiHandling>>(new Map())

/** The latest known handling of a fact. */
export function handlingOf({ id, handling }: ApiFact): ApiHandling | undefined {
  return pickLaterHandling(changes.value.get(id), handling)
}

/** The open calls for help, the latest first. */
export const openSos = computed(() =>
  reported.value.filter((fact) => isOpenSos(fact, handlingOf(fact))),
)

/** The devices that call for help. */
export const sosDevices = computed<ReadonlySet<string>>(
  () => new Set(openSos.value.map(({ deviceId }) => deviceId)),
)

/** @throws {ApiFailure} 409 if a colleague was faster; the message names the colleague. */
export async function changeHandling(
  { id }: ApiFact,
  call: 'take' | 'release' | 'close',
  note?: string,
): Promise<void> {
  try {
    const path = { id }
    const { handling } =
      call === 'close'
        ? await api.post('/facts/{id}/close', { path, body: note ? { note } : {} })
        : await api.post(`/facts/{id}/${call}`, { path })
    noteHandling(id, handling)
  } catch (thrown) {
    read().catch(() => undefined)
    throw thrown
  }
}

function noteHandling(id: string, handling: ApiHandling | undefined): void {
  const later = pickLaterHandling(changes.peek().get(id), handling)
  if (later !== undefined) changes.value = new Map(changes.peek()).set(id, later)
}

function add(facts: readonly ApiFact[]): void {
  const found = facts.filter(({ type, alarm = '' }) => type === 'alarm.reported' && isSos(alarm))
  if (found.length > 0) reported.value = mergeFacts(reported.peek(), found)
}

async function read(): Promise<void> {
  const from = new Date(serverNow() - KEPT_MS).toISOString()
  const query = { type: 'alarm.reported', from, limit: MOST_READ } as const
  add((await api.get('/facts', { query })).items)
}

/**
 * Looks for calls for help on every page, even while the tab is hidden and has no stream; the
 * returned function stops that.
 */
export function followAlarms(): () => void {
  const look = () => void read().catch(() => undefined)
  look()
  const timer = setInterval(look, EVERY_MS)
  const stopListening = onStreamEvent((name, event) => {
    if (name === 'fact') add([event as ApiFact])
    if (name === 'fact-handling') {
      const { id, handling } = event as { id: string; handling: ApiHandling }
      noteHandling(id, handling)
    }
    if (name === 'device-erased') {
      const { deviceId } = event as { deviceId: string }
      reported.value = reported.peek().filter((fact) => fact.deviceId !== deviceId)
    }
  })
  return () => {
    clearInterval(timer)
    stopListening()
    reported.value = []
    changes.value = new Map()
  }
}
