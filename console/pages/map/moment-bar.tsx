import './moment-bar.css'
import { useEffect, useState } from 'preact/hooks'
import { ChevronDown, Clock } from 'lucide'
import { date, dayBounds, fromInput, nextDay, toInput } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { Field } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { MomentInput } from '../../ui/moment-input.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { setQuery } from '../../ui/router.ts'
import { formatMoment } from '../../ui/shown.ts'
import { pastAt } from './shown-fleet.ts'

const MINUTE_MS = 60_000
const RESTS_MS = 200

/** Lets the operator choose the time that the map shows; a past time has a slider for its day. */
export function MomentBar() {
  const zone = readerZone()
  const at = pastAt.value
  const show = (ms: number | undefined) => {
    if (ms === undefined || ms >= now.peek()) setQuery({ at: undefined })
    else setQuery({ at: new Date(ms).toISOString(), alarm: undefined })
  }
  const yesterday = (time: string) =>
    fromInput(`${nextDay(date(now.peek(), zone), -1)}T${time}`, zone)
  return (
    <div class="moment-bar floating" data-past={at !== undefined} role="group" aria-label="Moment">
      <Menu
        class="small"
        button={
          <>
            <Icon of={Clock} small />
            {at === undefined ? 'Now' : formatMoment(at)}
            <Icon of={ChevronDown} small />
          </>
        }
      >
        {() => (
          <>
            <Field name="moment" label="Show the map as of">
              {(attributes) => (
                <MomentInput
                  {...attributes}
                  label="Show the map as of"
                  value={toInput(at ?? now.value, zone)}
                  onChange={(text) => show(fromInput(text, zone))}
                />
              )}
            </Field>
            <div class="row near">
              <button type="button" class="small" onClick={() => show(now.peek() - 60 * MINUTE_MS)}>
                An hour ago
              </button>
              {['08:00', '15:00'].map((time) => (
                <button
                  key={time}
                  type="button"
                  class="small"
                  onClick={() => show(yesterday(time))}
                >
                  Yesterday {time}
                </button>
              ))}
            </div>
          </>
        )}
      </Menu>
      {at !== undefined && (
        <>
          <button type="button" class="small primary" onClick={() => show(undefined)}>
            Now
          </button>
          <DaySlider at={at} zone={zone} onMove={show} />
        </>
      )}
    </div>
  )
}

/** The address changes once the slider rests. */
function DaySlider({
  at,
  zone,
  onMove,
}: {
  at: number
  zone: string
  onMove: (at: number) => void
}) {
  const [moving, setMoving] = useState<number>()
  useEffect(() => setMoving(undefined), [at])
  useEffect(() => {
    if (moving === undefined) return undefined
    const timer = setTimeout(() => onMove(moving), RESTS_MS)
    return () => clearTimeout(timer)
  }, [moving])
  const { from, to } = dayBounds(date(at, zone), zone)
  const shown = moving ?? at
  return (
    <input
      type="range"
      aria-label="Time of day"
      aria-valuetext={formatMoment(shown)}
      title={formatMoment(shown)}
      min={from}
      max={Math.min(to - MINUTE_MS, now.value - MINUTE_MS)}
      step={MINUTE_MS}
      value={shown}
      onInput={({ currentTarget }) => setMoving(Number(currentTarget.value))}
    />
  )
}
