import { useRef, useState } from 'preact/hooks'
import { momentOf } from '../../core/moment.ts'
import { date, time } from '../../core/times.ts'
import { useKeys } from '../../ui/keys.tsx'

/** The cursor's time of day, to read and to type; Enter, or leaving the field, goes there. */
export function TimeField({
  at,
  zone,
  onMove,
}: {
  at: number
  zone: string
  onMove: (at: number) => void
}) {
  const [typed, setTyped] = useState<string>()
  const shown = time(at, zone)
  function goThere() {
    const moment = momentOf(typed ?? '', date(at, zone), zone)
    if (moment !== undefined && typed !== shown) onMove(moment)
    setTyped(undefined)
  }
  const field = useRef<HTMLInputElement>(null)
  useKeys(
    { Enter: { label: 'Go to the time', run: goThere } },
    { title: 'In the time field', element: field },
  )
  return (
    <input
      ref={field}
      class="time-field"
      type="time"
      step={1}
      aria-label="Go to a time"
      value={typed ?? shown}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={goThere}
    />
  )
}
