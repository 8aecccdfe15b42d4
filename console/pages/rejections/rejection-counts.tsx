import { api } from '../../api/client.ts'
import { countText, numberText } from '../../core/measures.ts'
import { useNamesOf } from '../../live/names.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/states.tsx'
import { setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'
import { ERROR_NAMES, type ShownRejections } from './rejections.ts'
import './rejections.css'

const NAMED = 5
/** The maximum number of keys or devices that the summary lists. */
const SUMMARIZED = 100
const EVERY_MS = 10_000

/**
 * The number of rejected reports by reason, key and device; choosing one shows only its rejections.
 */
export function RejectionTotals({
  filter,
  listed,
}: {
  filter: ShownRejections
  /** The number of reports in the list. */
  listed: number
}) {
  const summary = useLoad(
    (signal) => api.get('/rejections/summary', { query: filter, signal }),
    [filter],
    { everyMs: EVERY_MS },
  )
  const names = useNamesOf('keys', summary.data?.byKey.map(({ keyId }) => keyId) ?? [])
  return (
    <Loaded of={summary} lines={2}>
      {({ total, byError, byKey, byDevice }) => (
        <section class="stack" aria-label="How many">
          <p>
            {countText(total, 'rejected report')}
            {listed < total && `, the latest ${numberText(listed)} listed`}. Reports with the same
            cause, device and key share a row.
          </p>
          <div class="rejection-counts tiles">
            <Counts
              noun="reason"
              name="error"
              counts={byError.map(({ error, count }) => [error, ERROR_NAMES[error], count])}
              total={total}
            />
            <Counts
              noun="key"
              name="keyId"
              counts={byKey.map(({ keyId, count }) => [keyId, names.get(keyId) ?? keyId, count])}
              total={total}
            />
            <Counts
              noun="device"
              name="deviceId"
              counts={byDevice.map(({ deviceId, count }) => [deviceId, deviceId, count])}
              total={total}
            />
          </div>
        </section>
      )}
    </Loaded>
  )
}

type NamedCount = readonly [value: string, words: string, count: number]

function sum(counts: readonly NamedCount[]): number {
  return counts.reduce((total, [, , count]) => total + count, 0)
}

function Counts({
  noun,
  name,
  counts,
  total,
}: {
  noun: string
  name: keyof ShownRejections
  counts: readonly NamedCount[]
  total: number
}) {
  const others = counts.slice(NAMED)
  const rest = total - sum(counts)
  return (
    <div class="card box stack tight">
      <h2>By {noun}</h2>
      <ul>
        {counts.slice(0, NAMED).map(([value, words, count]) => (
          <li key={value}>
            <button type="button" class="plain" onClick={() => setQuery({ [name]: value })}>
              <Isolated class="one-line">{words}</Isolated>
            </button>
            <span class="number">{numberText(count)}</span>
          </li>
        ))}
        {others.length > 0 && (
          <Rest words={countText(others.length, `more ${noun}`)} count={sum(others)} />
        )}
        {rest > 0 && (
          <Rest
            words={counts.length < SUMMARIZED ? `Unknown ${noun}` : `All other ${noun}s`}
            count={rest}
          />
        )}
      </ul>
    </div>
  )
}

/** Shows the number of reports not listed, so that each card's numbers add up to the total. */
function Rest({ words, count }: { words: string; count: number }) {
  return (
    <li class="quiet">
      {words}
      <span class="number">{numberText(count)}</span>
    </li>
  )
}
