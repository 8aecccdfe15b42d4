import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock as clock, type Clock } from '../runtime/clock.ts'
import { commandLine, UsageError } from '../runtime/process/command-line.ts'
import type * as Embedded from './candidates/embedded.ts'
import { forkTypescript } from './fork.ts'
import { median } from './median.ts'
import { meterOf, type Shape } from './meter.ts'
import { runBench } from './run-bench.ts'

const line = commandLine({
  begin: `Compares this checkout with another one: the embedded services take turns, A B B A.

  npm run bench:against -- FOLDER [ROUNDS]`,
  operands: {
    FOLDER: 'the other checkout, with its packages installed',
    ROUNDS: 'pairs for each kind of load (default 16, about five minutes)',
  },
  options: {},
})

const SHAPES: readonly Shape[] = [
  { name: 'single submits, 64 connections', connections: 64, batch: 1 },
  { name: 'batches of 100', connections: 8, batch: 100 },
]
const SECONDS = 2

await runBench({
  help: line.help,
  parse: (args) => line.parse(args, (_, operands) => checkoutIn(operands)),
  run: compare,
})

function checkoutIn([folder, rounds = '16']: readonly string[]) {
  if (folder === undefined) throw new UsageError('name the other checkout: see --help')
  if (!existsSync(join(resolve(folder), 'bench')))
    throw new UsageError(`${folder} is not a checkout of this project: it has no folder bench`)
  if (!/^[1-9]\d*$/.test(rounds))
    throw new UsageError(`ROUNDS must be a whole number from 1 on, not "${rounds}"`)
  return { folder, rounds: Number(rounds) }
}

async function compare({ folder, rounds }: ReturnType<typeof checkoutIn>): Promise<number> {
  const services = [await start(process.cwd()), await start(resolve(folder))]
  const generator = forkTypescript('load/main.ts')
  const meters = services.map((service) => meterOf(service, generator))
  for (const meter of meters) {
    // Lets the engine compile the code.
    for (const shape of SHAPES) await meter.measure(shape, { seconds: 3 * SECONDS })
  }
  for (const shape of SHAPES) {
    const ratios: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const inTurn = round % 2 === 0 ? meters : meters.toReversed()
      const costs = new Map<object, number>()
      for (const meter of inTurn) {
        costs.set(meter, (await meter.measure(shape, { seconds: SECONDS })).cpuMicros)
      }
      const [own = NaN, other = NaN] = meters.map((meter) => costs.get(meter))
      ratios.push(own / other)
    }
    const sorted = ratios.toSorted((a, b) => a - b)
    const at = (share: number) =>
      (sorted[Math.round(share * (sorted.length - 1))] ?? NaN).toFixed(3)
    process.stdout.write(
      `${shape.name}: CPU time per report ÷ that of ${folder}: median ${median(ratios).toFixed(3)}, ` +
        `quartiles ${at(0.25)} and ${at(0.75)}, ${ratios.length} pairs\n`,
    )
  }
  const faults = (await Promise.all(meters.map((meter) => meter.faults()))).flat()
  for (const fault of faults) process.stderr.write(`${fault}: the figures are void\n`)
  await generator.stop()
  for (const service of services) await service.stop()
  return faults.length === 0 ? 0 : 1
}

/** The parts of a checkout that open the files of its service. */
type Files = {
  openSqliteEventLog(options: { file: string; clock: Clock }): Embedded.EmbeddedFiles['eventLog']
  openSqliteStore(options: { directory: string }): Embedded.EmbeddedFiles['store']
}

/** The service of a checkout; its files are read with its own code. */
async function start(root: string) {
  const load = <Module>(file: string) => import(join(root, file)) as Promise<Module>
  const embedded = await load<typeof Embedded>('bench/candidates/embedded.ts')
  const log = await load<Files>('event-log/sqlite/sqlite-event-log.ts')
  const store = await load<Files>('store/sqlite/sqlite-store.ts')
  return embedded.startEmbeddedCandidate((directory) => ({
    eventLog: log.openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock }),
    store: store.openSqliteStore({ directory }),
  }))
}
