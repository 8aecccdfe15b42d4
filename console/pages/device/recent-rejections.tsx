import { api } from '../../api/client.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { addressOf } from '../../core/address.ts'

/** The device's latest refused reports, with the reasons. */
export function RecentRejections({ deviceId }: { deviceId: string }) {
  const latest = useLoad(
    (signal) => api.get('/rejections', { query: { deviceId, limit: 5 }, signal }),
    [deviceId],
    { everyMs: 30_000 },
  )
  return (
    <section class="card box stack" aria-labelledby="recent-rejections">
      <h2 id="recent-rejections">Latest rejections</h2>
      <Loaded of={latest} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">None in the last 7 days.</p>
          ) : (
            <>
              <ul class="stack near">
                {items.map(({ rejectionId, receivedAt, message }) => (
                  <li key={rejectionId} class="stack tight">
                    <span class="quiet">
                      <Ago at={receivedAt} />
                    </span>
                    <Isolated>{message}</Isolated>
                  </li>
                ))}
              </ul>
              <a href={addressOf(`/rejections?deviceId=${encodeURIComponent(deviceId)}`)}>
                Show all
              </a>
            </>
          )
        }
      </Loaded>
    </section>
  )
}
