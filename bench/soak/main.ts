import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { commandLine } from '../../runtime/process/command-line.ts'
import { numberOption } from '../../runtime/process/option-values.ts'
import { adminReader } from '../../test/admin-reader.ts'
import { createKey, operatorEnv, signIn } from '../../test/deployments.ts'
import { eventually } from '../../test/eventually.ts'
import { startEmbedded } from '../../test/programs.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { UNHINDERED } from '../candidates/candidate.ts'
import { percentiles } from '../load/percentiles.ts'
import { progressOn } from '../progress.ts'
import { runBench } from '../run-bench.ts'
import { defineAll, steadyReport } from './account.ts'
import { findFaults } from './faults.ts'
import { startReceivers } from './receivers.ts'

const line = commandLine({
  begin: `Runs the embedded service under a steady load, and checks afterwards that nothing was lost: 20 000 devices,
1000 geofences, 100 rules, and 20 subscriptions of which five fail. Linux only.

  npm run bench:soak -- [--minutes N] [--rate N]`,
  options: {
    minutes: { type: 'string', value: 'N', about: 'duration of the load (default 60)' },
    rate: { type: 'string', value: 'N', about: 'reports per second (default 150)' },
  },
  end: 'Prints memory, latencies and lag as they are after 10 %, 50 % and all of the time. Ends with code 1 at a loss.',
})

const DEVICES = 20_000
const AT_ONCE = 500
const SLICE_MS = 100
const STAGES = [0.1, 0.5, 1]

await runBench({
  help: line.help,
  parse: (args) =>
    line.parse(args, (values) => ({
      minutes: numberOption(values, 'minutes', { fallback: 60, min: 0.1, max: 10_000 }),
      rate: numberOption(values, 'rate', { fallback: 150, min: 10, max: 10_000, whole: true }),
    })),
  run: soak,
})

async function soak({ minutes, rate }: { minutes: number; rate: number }): Promise<number> {
  const progress = progressOn(process.stderr, () => performance.now())
  const directory = await temporaryDirectory()
  const receivers = await startReceivers()
  const { adminUrl, ingestUrl, ...program } = await startEmbedded(directory.path, {
    ...operatorEnv(),
    ...UNHINDERED,
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
  })
  const key = await createKey(adminUrl)
  const reader = adminReader({ adminUrl, key })
  let acknowledged = 0
  let refused = 0

  async function send(path: string, body: object): Promise<boolean> {
    const answer = await fetch(`${ingestUrl}/api/v1/gps/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    if (!answer.ok) refused += 1
    return answer.ok
  }

  progress('definitions and devices')
  await defineAll(await signIn(adminUrl), receivers.url)
  for (let device = 0; device < DEVICES; device += AT_ONCE) {
    const reports = Array.from({ length: AT_ONCE }, (_, n) => steadyReport(device + n, 0))
    if (await send('batch', { reports })) acknowledged += AT_ONCE
  }

  let next = DEVICES
  let latencies: number[] = []
  const underWay = new Set<Promise<void>>()
  async function report(): Promise<void> {
    const [device, turn] = [next % DEVICES, Math.floor(next / DEVICES)]
    next += 1
    const began = performance.now()
    if (await send('submit', steadyReport(device, turn))) acknowledged += 1
    latencies.push(performance.now() - began)
  }

  const begun = performance.now()
  const stages = [...STAGES]
  let nextLook = 0
  for (let slice = 1; ; slice += 1) {
    for (let n = 0; n < (rate * SLICE_MS) / 1_000 && underWay.size < rate; n += 1) {
      const one: Promise<void> = report().finally(() => underWay.delete(one))
      underWay.add(one)
    }
    await wait(Math.max(0, begun + slice * SLICE_MS - performance.now()))
    const done = (performance.now() - begun) / (minutes * 60_000)
    if (performance.now() > nextLook) {
      nextLook = performance.now() + 30_000
      progress(`${Math.round(100 * done)} %: ${next - DEVICES} reports, ${underWay.size} under way`)
    }
    if (done < (stages[0] ?? 1)) continue
    const { p50, p99, max } = percentiles(latencies)
    latencies = []
    process.stdout.write(
      `${Math.round(100 * (stages.shift() ?? 1))} % of ${minutes} min: memory ${residentMB(program.process.pid)} MB; ` +
        `submits since before: ` +
        `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(1)} ms; lag ` +
        `${await reader.metric('gps_projector_lag_seconds')} s, of facts ${await reader.metric('gps_facts_lag_seconds')} s\n`,
    )
    if (stages.length === 0) break
  }
  await Promise.all(underWay)

  progress('waiting until everything is stored and delivered')
  await settle()
  const facts = await reader.allFacts()
  const stored = (await reader.devices()).reduce((sum, { reportCount }) => sum + reportCount, 0)
  const faults = findFaults({ acknowledged, refused, stored, facts, received: receivers.received })
  process.stdout.write(
    `${acknowledged} acknowledged, ${stored} stored, ${facts.length} facts, ` +
      `${receivers.received.size} of them received, ${receivers.requests()} requests to receivers\n`,
  )
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  program.process.kill('SIGTERM')
  await program.ended
  receivers.close()
  await directory.remove()
  return faults.length === 0 ? 0 : 1

  /** Waits until everything is projected, and nothing more is received. */
  async function settle(): Promise<void> {
    let before = -1
    await eventually(
      async () => {
        const now = receivers.received.size
        const isSettled = now === before && (await reader.metric('gps_projector_lag_events')) === 0
        before = now
        return isSettled
      },
      { withinMs: 180_000, everyMs: 5_000 },
    )
  }
}

function residentMB(pid = 0): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024)
}
