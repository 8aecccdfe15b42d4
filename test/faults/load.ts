import { Pool } from 'undici'

export type Acknowledged = { readonly recordId: string; readonly deviceId: string }

/**
 * Sends reports as fast as they are answered, each once, until it is stopped; keeps what was
 * acknowledged. A request that fails is counted and its report is never acknowledged.
 */
export function startLoad({
  url,
  key,
  run,
  concurrency = 20,
}: {
  url: string
  key: string
  /** Part of every device's id, so that loads do not mix. */
  run: string
  concurrency?: number
}) {
  const pool = new Pool(url, { connections: concurrency })
  const acknowledged: Acknowledged[] = []
  const sent: string[] = []
  let failed = 0
  let stopped = false

  const workers = Array.from({ length: concurrency }, async (_unused, worker) => {
    for (let turn = 0; !stopped; turn += 1) {
      const deviceId = `${run}-${worker % 10}`
      const timestamp = new Date(Date.now() - 1_000 + (turn % 1_000)).toISOString()
      const report = { deviceId, latitude: worker + turn / 1e6, longitude: turn / 1e6, timestamp }
      sent.push(deviceId)
      try {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path: '/api/v1/gps/submit',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(report),
        })
        const answer = (await body.json()) as { data?: { recordId: string } }
        if (statusCode === 200 && answer.data) {
          acknowledged.push({ recordId: answer.data.recordId, deviceId })
        } else failed += 1
      } catch {
        failed += 1
        if (!stopped) await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  })

  return {
    acknowledged,
    sent,
    failed: () => failed,
    async stop() {
      stopped = true
      await Promise.all(workers)
      await pool.destroy()
    },
  }
}
