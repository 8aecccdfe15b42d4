import { useEffect } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { factPath, type ApiFact } from '../../core/device-facts.ts'
import { countText } from '../../core/measures.ts'
import { followSos, lookAtSos, openSos } from '../../live/sos.ts'
import { FactIcon, FactSentence } from '../../ui/fact-line.tsx'
import { shownZone, sosSound } from '../../ui/preferences.ts'
import { ringOnce } from '../../ui/ring.ts'
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
