import { api } from '../../api/client.ts'
import { numberText } from '../../core/measures.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'
import type { RejectionFilter } from './merge-rejections.ts'
import { ERROR_NAMES } from './rejection-words.ts'
import './rejections.css'

const NAMED = 5
/** The summary counts no more keys or devices one by one. */
const SUMMARIZED = 100
const EVERY_MS = 10_000

/**
 * The number of rejected reports by error, key and device; choosing one shows only its rejections.
 */
export function RejectionCounts({
  filter,
  names,
  listed,
}: {
  filter: RejectionFilter
  /** The number of reports in the list. */
  listed: number
  /** The names of keys, by id. */
  names: ReadonlyMap<string, string>
}) {
  const summary = useLoad(
    (signal) => api.get('/rejections/summary', { query: filter, signal }),
    [filter],
    { everyMs: EVERY_MS },
  )
  return (
    <Loaded of={summary} lines={2}>
      {({ total, byError, byKey, byDevice }) => (
        <section class="stack" aria-label="How many">
          <p>
            {numberText(total)} reports were rejected
            {listed < total && `, the list has the latest ${numberText(listed)} so far`}. Those with
            the same cause, device and key are one row.
          </p>
          <div class="rejection-counts tiles">
            <Counts
              title={`${numberText(total)} by reason`}
              name="error"
              counts={byError.map(({ error, count }) => [error, ERROR_NAMES[error], count])}
            />
            <Counts
              title="By key"
              name="keyId"
              counts={byKey.map(({ keyId, count }) => [keyId, names.get(keyId) ?? keyId, count])}
              rest={total - sum(byKey)}
            />
            <Counts
              title="By device"
              name="deviceId"
              counts={byDevice.map(({ deviceId, count }) => [deviceId, deviceId, count])}
              rest={total - sum(byDevice)}
            />
          </div>
        </section>
      )}
    </Loaded>
  )
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

type Count = readonly [value: string, words: string, count: number]

function Counts({
  title,
  name,
  counts,
  rest = 0,
}: {
  title: string
  name: keyof RejectionFilter
  counts: readonly Count[]
  /** Reports that the summary counts for none of them. */
  rest?: number
}) {
  const others = counts.slice(NAMED)
  return (
    <div class="card box stack tight">
      <h2>{title}</h2>
      {counts.length === 0 && <p class="quiet">Unknown.</p>}
      <ul>
        {counts.slice(0, NAMED).map(([value, words, count]) => (
          <li key={value}>
            <button type="button" class="plain" onClick={() => setQuery({ [name]: value })}>
              <Isolated class="one-line">{words}</Isolated>
            </button>
            <span class="number">{numberText(count)}</span>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p class="quiet">
          {numberText(others.reduce((sum, [, , count]) => sum + count, 0))} of {others.length} more
        </p>
      )}
      {rest > 0 && (
        <p class="quiet">
          {numberText(rest)} {counts.length < SUMMARIZED ? 'without a device' : 'of others'}
        </p>
      )}
    </div>
  )
}
