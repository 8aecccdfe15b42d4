import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { sentenceOnDevicePage, type ApiFact } from '../../core/device-facts.ts'
import { rangeQuery } from '../../core/span.ts'
import { onStreamEvent } from '../../live/live.ts'
import { FactIcon } from '../../ui/fact-line.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { useLoad } from '../../ui/use-load.ts'
import type { DeviceRange } from './track-data.ts'

const MOST = 1_000
/** Number of rows drawn first, and added on each request. */
const ROWS = 50
const NONE: readonly ApiFact[] = []

/** The events of the device in the range, the latest first; live. */
export function useFacts({ deviceId, from, to }: DeviceRange, isWanted: boolean) {
  const { data, reload } = useLoad(
    async (signal) => {
      if (!isWanted) return []
      const query = { deviceId, ...rangeQuery({ from, to }), limit: MOST }
      return (await api.get('/facts', { query, signal })).items
    },
    [deviceId, from, to, isWanted],
  )
  useEffect(
    () =>
      onStreamEvent((name, fact) => {
        if (name === 'opened') reload()
        if (name === 'fact' && (fact as ApiFact).deviceId === deviceId) reload()
      }),
    [deviceId],
  )
  return data ?? NONE
}

/** Lists the events of the displayed days; a click selects an event's time. */
export function DeviceEvents({
  of: facts,
  deviceId,
  clock,
  onMove,
}: {
  of: readonly ApiFact[]
  deviceId: string
  clock: (at: number) => string
  onMove: (at: number) => void
}) {
  const [rows, setRows] = useState(ROWS)
  if (facts.length === 0) return null
  return (
    <section class="card box stack some" aria-labelledby="device-events">
      <h2 id="device-events">Events</h2>
      <ol class="events-of-day" role="list" aria-labelledby="device-events">
        {facts.slice(0, rows).map((fact) => (
          <li key={fact.id}>
            <button type="button" class="plain" onClick={() => onMove(Date.parse(fact.at))}>
              <FactIcon type={fact.type} />
              <span class="strong">{clock(Date.parse(fact.at))}</span>
              <Isolated class="quiet">{sentenceOnDevicePage(fact)}</Isolated>
            </button>
          </li>
        ))}
      </ol>
      {facts.length > rows && (
        <p class="more">
          <button type="button" class="small" onClick={() => setRows(rows + ROWS)}>
            Show more
          </button>
        </p>
      )}
      <a href={addressOf(`/events?deviceId=${encodeURIComponent(deviceId)}`)}>Show all</a>
    </section>
  )
}
