import { computed, effect, signal } from '@preact/signals'
import { api, serverNow } from '../api/client.ts'
import { isSos, mergedFacts, type ApiFact } from '../core/device-facts.ts'
import { onStreamEvent } from './live.ts'
import { me } from './session.ts'

const EVERY_MS = 10_000
/** An older one that nobody has looked at is history. */
const KEPT_MS = 7 * 86_400_000
const MOST_READ = 200
const MOST_SEEN = 500

const reported = signal<readonly ApiFact[]>([])
const seen = signal<ReadonlySet<string>>(new Set())

/** The calls for help that this operator has not looked at in this browser, the latest first. */
export const openSos = computed(() => reported.value.filter(({ id }) => !seen.value.has(id)))

/** Notes that the operator has looked at them. */
export function lookAtSos(facts: readonly ApiFact[]): void {
  const ids = [...seen.value, ...facts.map(({ id }) => id)].slice(-MOST_SEEN)
  seen.value = new Set(ids)
  try {
    localStorage.setItem(seenKey(), JSON.stringify(ids))
  } catch {
    // Then it lasts as long as the page.
  }
}

/**
 * Looks for calls for help on every page, also while the tab is hidden and has no stream; the
 * returned function ends that.
 */
export function followSos(): () => void {
  const isNew = ({ type, alarm = '' }: ApiFact) => type === 'alarm.reported' && isSos(alarm)
  const add = (facts: readonly ApiFact[]) => {
    const found = facts.filter(isNew)
    const known = new Set(reported.peek().map(({ id }) => id))
    if (found.some(({ id }) => !known.has(id))) reported.value = mergedFacts(reported.peek(), found)
  }
  async function read(): Promise<void> {
    const from = new Date(serverNow() - KEPT_MS).toISOString()
    const query = { type: 'alarm.reported', from, limit: MOST_READ } as const
    add((await api.get('/facts', { query })).items)
  }
  const look = () => void read().catch(() => undefined)
  const readSeen = () => (seen.value = seenBefore())
  const stopReading = effect(() => {
    if (!me.value) return
    readSeen()
  })
  look()
  const timer = setInterval(look, EVERY_MS)
  const stopListening = onStreamEvent((name, fact) => {
    if (name === 'fact') add([fact as ApiFact])
  })
  // Another tab may have looked.
  addEventListener('storage', readSeen)
  return () => {
    stopReading()
    clearInterval(timer)
    stopListening()
    removeEventListener('storage', readSeen)
    reported.value = []
  }
}

function seenKey(): string {
  return `gps-console.sos-seen.${me.peek()?.operator.id ?? ''}`
}

function seenBefore(): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(seenKey()) ?? '[]')
    return new Set(Array.isArray(ids) ? (ids as string[]) : [])
  } catch {
    return new Set()
  }
}
