import { useEffect } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { factPath, type ApiFact } from '../../core/device-facts.ts'
import { countText } from '../../core/measures.ts'
import { followSos, lookAtSos, openSos } from '../../live/sos.ts'
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
