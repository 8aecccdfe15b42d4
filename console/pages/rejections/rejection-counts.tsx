import { api } from '../../api/client.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { setQuery } from '../../ui/router.ts'
import { FailedLine, Loading } from '../../ui/states.tsx'
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
  const { data, failure, reload } = useLoad(
    (signal) => api.get('/rejections/summary', { query: filter, signal }),
    [filter],
    { everyMs: EVERY_MS },
  )
  if (data === undefined) {
    return failure === undefined ? (
      <Loading lines={2} />
    ) : (
      <FailedLine failure={failure} onRetry={reload} />
    )
  }
  const { total, byError, byKey, byDevice } = data
  return (
    <section class="rejection-counts" aria-label="How many">
      <Counts
        title={`${total.toLocaleString('en')} by reason`}
        name="error"
        counts={byError.map(({ error, count }) => ({ value: error, words: error, count }))}
      />
      <Counts
        title="By key"
        name="keyId"
        counts={byKey.map(({ keyId, count }) => ({
          ...{ value: keyId, words: names.get(keyId) ?? keyId, count },
        }))}
      />
      <Counts
        title="By device"
        name="deviceId"
        counts={byDevice.map(({ deviceId, count }) => ({
          ...{ value: deviceId, words: deviceId, count },
        }))}
      />
    </section>
  )
}

type Count = { readonly value: string; readonly words: string; readonly count: number }

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
    <div class="card">
      <h2>{title}</h2>
      {counts.length === 0 && <p class="quiet">Not known.</p>}
      <ul>
        {counts.slice(0, NAMED).map(({ value, words, count }) => (
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
