import { api } from '../../api/client.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'
import type { RejectionFilter } from './merge-rejections.ts'
import './rejections.css'

const NAMED = 5
const EVERY_MS = 10_000

/**
 * The number of refused reports by error, key and device; choosing one shows only its rejections.
 */
export function RejectionCounts({
  filter,
  names,
}: {
  filter: RejectionFilter
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
        <section class="rejection-counts tiles" aria-label="How many">
          <Counts
            title={`${total.toLocaleString('en')} by reason`}
            name="error"
            counts={byError.map(({ error, count }) => [error, error, count])}
          />
          <Counts
            title="By key"
            name="keyId"
            counts={byKey.map(({ keyId, count }) => [keyId, names.get(keyId) ?? keyId, count])}
          />
          <Counts
            title="By device"
            name="deviceId"
            counts={byDevice.map(({ deviceId, count }) => [deviceId, deviceId, count])}
          />
        </section>
      )}
    </Loaded>
  )
}

type Count = readonly [value: string, words: string, count: number]

function Counts({
  title,
  name,
  counts,
}: {
  title: string
  name: keyof RejectionFilter
  counts: readonly Count[]
}) {
  return (
    <div class="card box stack tight">
      <h2>{title}</h2>
      {counts.length === 0 && <p class="quiet">Not known.</p>}
      <ul>
        {counts.slice(0, NAMED).map(([value, words, count]) => (
          <li key={value}>
            <button type="button" class="plain" onClick={() => setQuery({ [name]: value })}>
              <Isolated class="one-line">{words}</Isolated>
            </button>
            <span class="number">{count.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      {counts.length > NAMED && <p class="quiet">and {counts.length - NAMED} more</p>}
    </div>
  )
}
