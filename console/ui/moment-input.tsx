import { clockTime24, timeOfDayText } from '../core/date-words.ts'
import { isDay, date } from '../core/times.ts'
import { now } from './clock.ts'
import { type FieldAttributes, useTyped } from './form.tsx'
import { clockHours, readerZone } from './preferences.ts'

/**
 * A date, and a typed time of day: `14:05` or `2:05 pm`. Browsers' own fields for both together use
 * the clock of the browser's language, not the selected one.
 */
export function MomentInput({
  label,
  value,
  onChange,
  isEnd = false,
  ...attributes
}: FieldAttributes & {
  label: string
  /** Whether a day without a time means its end: `2026-01-31T`. */
  isEnd?: boolean
  /** `2026-01-31T14:05`, or empty. */
  value: string
  onChange: (value: string) => void
}) {
  const [day = '', time = ''] = value.split('T')
  const shown = time === '' ? '' : timeOfDayText(time, clockHours.value)
  const typed = useTyped(shown, (text) => {
    if (isEnd && text.trim() === '' && day !== '') onChange(`${day}T`)
    const read = clockTime24(text).slice(0, 5)
    if (/^([01]\d|2[0-3]):[0-5]\d$/.test(read) && read !== time) {
      onChange(`${day || date(now.value, readerZone())}T${read}`)
    }
    return true
  })

  function setDay(text: string) {
    if (text === '') onChange('')
    else if (isDay(text)) onChange(`${text}T${time || (isEnd ? '' : '00:00')}`)
  }

  return (
    <span class="moment-input">
      <input
        {...attributes}
        type="date"
        value={day}
        onChange={({ currentTarget }) => setDay(currentTarget.value)}
      />
      <input
        type="text"
        aria-label={`${label}, time of day`}
        autoComplete="off"
        spellcheck={false}
        placeholder={isEnd ? '24:00' : 'hh:mm'}
        {...typed}
      />
      {/* The form reads this field. */}
      <input type="hidden" name={attributes.name} value={value} />
    </span>
  )
}
