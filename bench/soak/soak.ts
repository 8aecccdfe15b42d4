import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { adminReader, type FactView } from '../../test/admin-reader.ts'
import { signIn } from '../../test/deployments.ts'
import { eventually } from '../../test/eventually.ts'
import { startEmbeddedCandidate } from '../candidates/embedded.ts'
import { residentMegabytes } from '../cpu-time.ts'
import { progress } from '../fork.ts'
import { faultsOf, sendLoad } from '../load/loops.ts'
import type { Order } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { defineAll, steadyReport } from './account.ts'

const DEVICES = 20_000
const BATCH = 100
const SECONDS_OF_FIRST = 20
/** The service closes idle connections: with so few connections, none is idle. */
const CONNECTIONS = 16
/** Shares of the time. */
const STAGES = [0, 0.1, 0.5, 1]

/**
 * Runs the embedded service under a steady load, and checks afterwards that nothing was lost: 20 000 devices,
 * 1000 geofences, 100 rules, and 20 subscriptions of which five fail. A row each for 10 %, 50 % and all of the time.
 */
export async function measureSoak({ minutes, rate, adapters }: Order): Promise<Part> {
  const receivers = await startReceivers()
  const env = { WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' }
  const service = await startEmbeddedCandidate(adapters.openFiles, env)
  const { url, key, pid } = service
  const reader = adminReader(service)
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
    await defineAll(await signIn(service.adminUrl), receivers.url)
    await send(BATCH, DEVICES / BATCH / SECONDS_OF_FIRST, SECONDS_OF_FIRST)
    const rows: Row[] = []
    for (const [at, share] of STAGES.slice(1).entries()) {
      progress(`until ${100 * share} % of ${minutes} minutes`)
      const { p50, p99, max } = await send(1, rate, 60 * minutes * (share - (STAGES[at] ?? 0)))
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
    await service.settled()
    let before = -1
    const isSettled = () => before === (before = receivers.ids.size)
    await eventually(isSettled, { withinMs: 180_000, everyMs: 5_000 })
    const [stored, facts] = [await service.stored(), await reader.allFacts()]
    progress(`${stored} stored, ${facts.length} facts`)
    if (stored !== acknowledged) faults.push(`${acknowledged} acknowledged, but ${stored} stored`)
    faults.push(...findLosses(facts, receivers.ids))
    return { title: `A steady load of ${rate} reports/s`, rows, faults, rounds: 1 }
  } finally {
    await service.stop()
    receivers.close()
  }
}

type Body = { readonly data: { readonly items: readonly { readonly data: { id: string } }[] } }

/**
 * Receivers of facts in batches. `/all` stores their ids, `/fails` responds with 500, `/hangs`
 * never responds, others accept.
 */
async function startReceivers() {
  const ids = new Set<string>()
  const server = createServer((request, response) => {
    const received = json(request).then((body) => {
      if (request.url === '/hangs') return
      if (request.url === '/all') for (const { data } of (body as Body).data.items) ids.add(data.id)
      response.writeHead(request.url === '/fails' ? 500 : 204).end()
    })
    received.catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, ids, close }
}

/** Lists lost or duplicated facts, one line each. */
function findLosses(facts: readonly FactView[], received: ReadonlySet<string>): string[] {
  const ids = new Set(facts.map(({ id }) => id))
  const missing = [...ids].filter((id) => !received.has(id))
  const places = new Set(facts.map(({ deviceId, sequence }) => `${deviceId} ${sequence}`))
  const gaps = facts.filter(({ deviceId, sequence }) => {
    return sequence > 1 && !places.has(`${deviceId} ${sequence - 1}`)
  })
  const twice = facts.length - Math.min(ids.size, places.size)
  return [
    ...(twice === 0 ? [] : [`${twice} facts share an id or a sequence`]),
    ...(gaps.length === 0 ? [] : [`${gaps.length} gaps, as before ${gaps[0]?.id}`]),
    ...(missing.length === 0 ? [] : [`${missing.length} facts not received, as ${missing[0]}`]),
  ]
}
