import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Attributes } from '../../schemas/report/report-fields.ts'
import { eventually } from '../eventually.ts'

/** A sent report and its outcome. */
export type Sent = {
  readonly deviceId: string
  readonly latitude: number
  readonly longitude: number
  readonly timestamp: string
  readonly attributes?: Attributes
}
export type Acknowledged = Sent & { readonly recordId: string }

/** The outcomes of unacknowledged requests: a status, or no response. */
export type Refusal = {
  readonly deviceId: string
  readonly status: number | 'no response'
  readonly retryAfter: string | undefined
  readonly afterMs: number
}

let loads = 0

/**
 * Sends each report once, spread over `urls`, the next after each response, until stopped. Records
 * reports sent, reports acknowledged, and the other outcomes.
 */
export function startLoad({
  urls,
  key,
  concurrency = 10,
  pauseMs = 0,
  alarmEvery = Infinity,
}: {
  urls: readonly string[]
  key: string
  concurrency?: number
  /** The pause between a response and the next report: stored reports must also be read back. */
  pauseMs?: number
  /** One in this many reports of a device has an alarm with a unique name. */
  alarmEvery?: number
}) {
  loads += 1
  const run = loads
  const pools = urls.map((url) => new Pool(url, { connections: concurrency }))
  const acknowledged: Acknowledged[] = []
  const sent: Sent[] = []
  const refused: Refusal[] = []
  let slowestMs = 0
  let stopped = false

  const workers = Array.from({ length: concurrency }, async (_unused, worker) => {
    for (let turn = 0; !stopped; turn += 1) {
      const report: Sent = {
        deviceId: `load-${run}-${worker}`,
        latitude: worker + turn / 1e6,
        longitude: turn / 1e6,
        timestamp: new Date(Date.now() - (turn % 7) * 1_000).toISOString(),
        ...(turn % alarmEvery === 0 && { attributes: { alarm: `alarm-${turn}` } }),
      }
      sent.push(report)
      if (pauseMs > 0) await pause(pauseMs)
      const refusal = await submit(pools[(turn + worker) % pools.length] as Pool, report)
      if (refusal === undefined) continue
      refused.push(refusal)
      if (!stopped) await pause(10)
    }
  })

  async function submit(pool: Pool, report: Sent): Promise<Refusal | undefined> {
    const begin = performance.now()
    const { deviceId } = report
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/gps/submit',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(report),
      })
      const answer = (await body.json()) as { data?: { recordId: string } }
      if (statusCode === 200 && answer.data !== undefined) {
        acknowledged.push({ ...report, recordId: answer.data.recordId })
        return undefined
      }
      const retryAfter = headers['retry-after']?.toString()
      return { deviceId, status: statusCode, retryAfter, afterMs: performance.now() - begin }
    } catch {
      const afterMs = performance.now() - begin
      return { deviceId, status: 'no response', retryAfter: undefined, afterMs }
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - begin)
    }
  }

  return {
    acknowledged,
    sent,
    refused,
    /** Duration of the slowest response, of any status. */
    slowestMs: () => slowestMs,
    async stop(): Promise<void> {
      stopped = true
      await Promise.all(workers)
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

export type Load = ReturnType<typeof startLoad>

/** Resolves when this many more have been acknowledged. */
export async function acknowledges(load: Load, more: number, withinMs = 60_000): Promise<void> {
  const enough = load.acknowledged.length + more
  await eventually(() => load.acknowledged.length >= enough, { withinMs })
}

export function devicesOf({ sent }: Pick<Load, 'sent'>): string[] {
  return [...new Set(sent.map(({ deviceId }) => deviceId))]
}

/** Seconds until each of the devices has been acknowledged again; fails after 10 s. */
export async function acceptsAgain(load: Load): Promise<number> {
  const devices = devicesOf(load)
  const begin = performance.now()
  const before = load.acknowledged.length
  await eventually(
    () => {
      const since = new Set(load.acknowledged.slice(before).map(({ deviceId }) => deviceId))
      return devices.every((device) => since.has(device))
    },
    { withinMs: 10_000 },
  )
  return (performance.now() - begin) / 1000
}
