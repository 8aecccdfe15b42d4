import { computed, effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { factPath, isSos, mergedFacts, type ApiFact } from '../../core/device-facts.ts'
import { countText } from '../../core/measures.ts'
import { onStreamEvent } from '../../live/live.ts'
import { me } from '../../live/session.ts'
import { FactIcon, FactSentence } from '../../ui/fact-line.tsx'
import { shownZone, sosSound } from '../../ui/preferences.ts'
import { Time } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'

const MOST_SHOWN = 3
const RING_EVERY_MS = 5_000

/** Calls for help, on every page until the operator has looked at them. */
export function SosBanner() {
  useEffect(followSos, [])
  const facts = openSos.value
  const rings = facts.length > 0 && sosSound.value === 'on'
  useEffect(() => {
    if (!rings) return undefined
    ringOnce()
    const timer = setInterval(ringOnce, RING_EVERY_MS)
    return () => clearInterval(timer)
  }, [rings])
  if (facts.length === 0) return null
  const more = facts.length - MOST_SHOWN
  return (
    <div class="sos notice bad stack near" role="alert">
      {facts.slice(0, MOST_SHOWN).map((fact) => (
        <SosLine key={fact.id} of={fact} />
      ))}
      {facts.length > 1 && (
        <div class="row between">
          {more > 0 ? <p>And {countText(more, 'more SOS', undefined, 'more SOS')}</p> : <span />}
          <button type="button" class="small" onClick={() => lookAtSos(facts)}>
            I have seen them all
          </button>
        </div>
      )}
    </div>
  )
}

function SosLine({ of: fact }: { of: ApiFact }) {
  const { deviceId } = fact
  // Not every page reads the fleet. An erased device has no name.
  const { data } = useLoad(
    (signal) => api.get('/devices/{deviceId}', { path: { deviceId }, signal }),
    [deviceId],
  )
  return (
    <div class="row">
      <FactIcon type={fact.type} />
      <p>
        <FactSentence fact={fact} deviceName={data?.name ?? deviceId} /> <Time at={fact.at} />
      </p>
      <a
        class="button small"
        href={addressOf(factPath(fact, shownZone()))}
        onClick={() => lookAtSos([fact])}
      >
        Show
      </a>
    </div>
  )
}

/** Two tones, for what must not be overlooked. Browsers stay silent until the page was used. */
function ringOnce(): void {
  const context = new AudioContext()
  for (const [after, frequency] of [
    [0, 880],
    [0.25, 660],
  ] as const) {
    const tone = context.createOscillator()
    const volume = context.createGain()
    tone.frequency.value = frequency
    volume.gain.value = 0.2
    tone.connect(volume).connect(context.destination)
    tone.start(context.currentTime + after)
    tone.stop(context.currentTime + after + 0.2)
  }
  setTimeout(() => {
    context.close().catch(() => undefined)
  }, 1_000)
}

const EVERY_MS = 10_000
/** An older one that nobody has looked at is history. */
const KEPT_MS = 7 * 86_400_000
const MOST_READ = 200
const MOST_SEEN = 500

const reported = signal<readonly ApiFact[]>([])
const seen = signal<ReadonlySet<string>>(new Set())

/** The calls for help that this operator has not looked at in this browser, the latest first. */
const openSos = computed(() => reported.value.filter(({ id }) => !seen.value.has(id)))

/** Notes that the operator has looked at them. */
function lookAtSos(facts: readonly ApiFact[]): void {
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
function followSos(): () => void {
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
