import { useEffect } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { handlingCalls } from '../../core/alarms.ts'
import type { ApiFact } from '../../core/device-facts.ts'
import { countText } from '../../core/measures.ts'
import { followAlarms, changeHandling, handlingOf, openSos } from '../../live/alarms.ts'
import { may, me } from '../../live/session.ts'
import { FactIcon, FactSentence } from '../../ui/fact-line.tsx'
import { sosSound } from '../../ui/preferences.ts'
import { FailedLine } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useLoad } from '../../ui/use-load.ts'
import { HandlingLine } from './handling.tsx'

const MOST_SHOWN = 3
const RING_EVERY_MS = 5_000

/**
 * Calls for help, on every page until somebody has closed them; they ring until somebody has taken
 * them.
 */
export function SosBanner() {
  useEffect(followAlarms, [])
  const facts = openSos.value
  const rings = sosSound.value === 'on' && facts.some((fact) => handlingOf(fact)?.state !== 'taken')
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
      {more > 0 && (
        <div class="row between">
          <p>And {countText(more, 'more SOS', undefined, 'more SOS')}</p>
          <CloseAll of={facts} />
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
  const name = data?.name ?? deviceId
  return (
    <div class="row">
      <FactIcon type={fact.type} />
      <p>
        <FactSentence fact={fact} deviceName={name} /> <Time at={fact.at} />
      </p>
      <HandlingLine of={fact} subject={`SOS of ${name}`} />
      <a class="button small" href={addressOf(alarmPath(fact))}>
        Show
      </a>
    </div>
  )
}

/** Path of the map that shows the device's current position and where it called for help. */
function alarmPath({ id, deviceId }: ApiFact): string {
  return `/?${new URLSearchParams({ device: deviceId, alarm: id })}`
}

/** Closes the calls not taken by another operator. */
function CloseAll({ of: facts }: { of: readonly ApiFact[] }) {
  const closing = useAction(async () => {
    const operator = me.peek()?.operator
    for (const fact of facts) {
      const calls = operator ? handlingCalls(handlingOf(fact), operator) : []
      if (calls.includes('close')) await changeHandling(fact, 'close')
    }
  })
  if (!may('facts.handle')) return null
  return (
    <>
      <button type="button" class="small" disabled={closing.isRunning} onClick={closing.run}>
        Close them all
      </button>
      {closing.failure !== undefined && <FailedLine failure={closing.failure} />}
    </>
  )
}

/**
 * Two tones, for events that must not be overlooked. Browsers remain silent until the page was
 * used.
 */
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
