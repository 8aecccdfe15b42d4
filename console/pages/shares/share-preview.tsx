import { now } from '../../ui/clock.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { formatMoment } from '../../ui/shown.ts'
import { Ago } from '../../ui/time.tsx'
import { statusOf, NO_POSITION, silenceText } from '../share/use-shared.ts'

/** Number of devices listed before the rest is counted. */
const LISTED = 3

type Previewed = { readonly name: string; readonly lastAt: string | undefined }

/** The text that viewers will read on the page of the link. */
export function SharePreview({
  title,
  devices,
  showsNow,
  until,
  trail,
}: {
  title: string
  devices: readonly Previewed[]
  showsNow: boolean
  until: number | undefined
  /** The formatted trail setting; undefined if no trail is shown. */
  trail: string | undefined
}) {
  const isOne = devices.length <= 1
  const place = isOne ? 'its last known place' : 'their last known places'
  return (
    <section class="notice stack near" aria-label="What viewers see">
      <p class="note">What viewers see</p>
      <div>
        <h3>
          <Isolated>{title}</Isolated>
        </h3>
        {until !== undefined && <p class="quiet">live · until {formatMoment(until)}</p>}
      </div>
      {!showsNow && (
        <p>
          Until {isOne ? 'its' : 'their'} next report: “{NO_POSITION}” Then:
        </p>
      )}
      <ul class="stack tight">
        {devices.slice(0, LISTED).map(({ name, lastAt }, index) => (
          <li key={index}>
            {name !== title && <Isolated class="strong">{name}</Isolated>}{' '}
            {showsNow ? <LastKnown at={lastAt} /> : 'Updated just now'}
          </li>
        ))}
        {devices.length > LISTED && <li>and {devices.length - LISTED} more</li>}
      </ul>
      <p>
        The map shows {showsNow ? `${place} immediately, then ` : ''}
        {isOne ? 'where it is, ' : 'where they are, '}
        {trail === undefined ? 'without a trail.' : `with a trail of ${trail.toLowerCase()}.`}
      </p>
      <p>If it is silent for 5 minutes: “{silenceText(now.value)}”</p>
    </section>
  )
}

function LastKnown({ at }: { at: string | undefined }) {
  if (at === undefined) return null
  return (
    <>
      Updated <Ago at={at} inFull />
      {statusOf({ timestamp: at }, now.value) !== 'online' && (
        <p class="quiet">{silenceText(Date.parse(at))}</p>
      )}
    </>
  )
}
