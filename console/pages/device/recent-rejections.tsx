import { api } from '../../api/client.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'

/** The device's latest refused reports, with the reasons. */
export function RecentRejections({ deviceId }: { deviceId: string }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.get('/rejections', { query: { deviceId, limit: 5 }, signal }),
    [deviceId],
    { everyMs: 30_000 },
  )
  return (
    <section class="card" aria-labelledby="recent-rejections">
      <h2 id="recent-rejections">Latest rejections</h2>
      {failure !== undefined && <FailedLine failure={failure} onRetry={reload} />}
      {data === undefined && failure === undefined && <Loading lines={2} />}
      {data?.items.length === 0 && <p class="quiet">None in the last 7 days.</p>}
      {data !== undefined && data.items.length > 0 && (
        <>
          <ul class="rejection-list">
            {data.items.map(({ rejectionId, receivedAt, message }) => (
              <li key={rejectionId}>
                <span class="quiet">
                  <Ago at={receivedAt} />
                </span>
                <Isolated>{message}</Isolated>
              </li>
            ))}
          </ul>
          <a href={`/rejections?deviceId=${encodeURIComponent(deviceId)}`}>All of them</a>
        </>
      )}
    </section>
  )
}
