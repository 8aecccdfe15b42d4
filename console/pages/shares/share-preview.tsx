import { now } from '../../ui/clock.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { shownMoment } from '../../ui/shown.ts'
import { silenceText } from '../share/shared-words.ts'

/** So many devices are listed before the rest is counted. */
const LISTED = 3

/** What the customer will read on the page of the link. */
export function SharePreview({
  title,
  names,
  until,
  trail,
}: {
  title: string
  names: readonly string[]
  until: number | undefined
  /** The choice of the trail in words; undefined if none is shown. */
  trail: string | undefined
}) {
  return (
    <section class="notice stack near" aria-label="What the customer sees">
      <p class="note">What the customer sees</p>
      <div>
        <h3>
          <Isolated>{title}</Isolated>
        </h3>
        {until !== undefined && <p class="quiet">live · until {shownMoment(until)}</p>}
      </div>
      <ul class="stack tight">
        {names.slice(0, LISTED).map((name, index) => (
          <li key={index}>
            {name !== title && <Isolated class="strong">{name}</Isolated>} Updated just now
          </li>
        ))}
        {names.length > LISTED && <li>and {names.length - LISTED} more</li>}
      </ul>
      <p>
        {names.length > 1 ? 'The map shows where they are, ' : 'The map shows where it is, '}
        {trail === undefined ? 'without a trail.' : `with a trail of ${trail.toLowerCase()}.`}
      </p>
      <p>If it is silent for 5 minutes: “{silenceText(now.value)}”</p>
    </section>
  )
}
