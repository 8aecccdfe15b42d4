import { adminReader } from '../../test/admin-reader.ts'
import { signIn } from '../../test/deployments.ts'
import { eventually } from '../../test/eventually.ts'
import { startEmbeddedCandidate } from '../candidates/embedded.ts'
import { residentMegabytes } from '../cpu-time.ts'
import { faultsOf, sendLoad } from '../load/loops.ts'
import type { Order } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { startReceivers } from '../receivers.ts'
import { defineAll, steadyReport } from './account.ts'
import { findLosses } from './losses.ts'

const DEVICES = 20_000
const BATCH = 100
const SECONDS_OF_FIRST = 20
/** The service closes idle connections: with so few of them, none is. */
const CONNECTIONS = 16
/** Shares of the time. */
const STAGES = [0, 0.1, 0.5, 1]

/**
 * Runs the embedded service under a steady load, and checks afterwards that nothing was lost: 20 000 devices,
 * 1000 geofences, 100 rules, and 20 subscriptions of which five fail. A row each for 10 %, 50 % and all of the time.
 */
export async function measureSoak({ minutes, rate, progress, adapters }: Order): Promise<Part> {
  const receivers = await startReceivers()
  const env = { WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' }
  const service = await startEmbeddedCandidate(adapters.openFiles, env)
  const { adminUrl, url, key, pid } = service
  const reader = adminReader({ adminUrl, key })
  const faults: string[] = []
  let acknowledged = 0
  let next = 0

  async function send(batch: number, perSecond: number, seconds: number) {
    const report = () => {
      const [device, turn] = [next % DEVICES, Math.floor(next / DEVICES)]
      next += 1
      return JSON.stringify(steadyReport(device, turn))
    }
    const target = { url, key, batch, report }
    const window = await sendLoad(target, { connections: CONNECTIONS, perSecond, seconds })
    acknowledged += window.acknowledged
    faults.push(...faultsOf('reports', window))
    return window.latency
  }

  try {
    progress('definitions and devices')
    await defineAll(await signIn(adminUrl), receivers.url)
    await send(BATCH, DEVICES / BATCH / SECONDS_OF_FIRST, SECONDS_OF_FIRST)
    const rows: Row[] = []
    for (const [at, share] of STAGES.entries()) {
      if (share === 0) continue
      progress(`until ${100 * share} % of ${minutes} minutes`)
      const seconds = 60 * minutes * (share - (STAGES[at - 1] ?? 0))
      const { p50, p99, max } = await send(1, rate, seconds)
      rows.push({
        time: `${100 * share} % of ${minutes} min`,
        'memory MB': residentMegabytes(pid),
        'p50 ms': p50,
        'p99 ms': p99,
        'max ms': max,
        'lag s': (await reader.metric('gps_projector_lag_seconds')) ?? NaN,
        'lag of facts s': (await reader.metric('gps_facts_lag_seconds')) ?? NaN,
        reports: acknowledged,
      })
    }
    progress('waiting until everything is stored and delivered')
    await settle()
    const facts = await reader.allFacts()
    const stored = await service.stored()
    faults.push(...findLosses({ acknowledged, stored, facts, received: receivers.ids }))
    const [total, requests] = [facts.length, receivers.received.requests]
    progress(`${stored} stored, ${total} facts, ${requests} requests to receivers`)
    return { title: `A steady load of ${rate} reports/s`, rows, faults, rounds: 1 }
  } finally {
    await service.stop()
    receivers.close()
  }

  /** Waits until everything is projected, and nothing more is received. */
  async function settle(): Promise<void> {
    await service.settled()
    let before = -1
    const isSettled = () => before === (before = receivers.ids.size)
    await eventually(isSettled, { withinMs: 180_000, everyMs: 5_000 })
  }
}
