import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock as clock, type Clock } from '../runtime/clock.ts'
import { UsageError } from '../runtime/process/command-line.ts'
import type * as Embedded from './candidates/embedded.ts'
import { forkTypescript, progress } from './fork.ts'
import { median, percentiles } from './statistics.ts'
import { meterOf } from './meter.ts'
import type { Order } from './order.ts'
import type { Part, Row } from './part.ts'
import { BATCHES, letAllReport, SINGLE } from './warm-up.ts'

const SHAPES = [SINGLE, BATCHES]
const SECONDS = 2

/** Compares this checkout with another one: the embedded services alternate, A B B A. */
export async function measureAgainst({ folder, rounds }: Order): Promise<Part> {
  if (!existsSync(join(resolve(folder), 'bench'))) {
    throw new UsageError(`${folder} is not a checkout of this project: it has no folder bench`)
  }
  progress('starting both')
  const services = [await start(process.cwd()), await start(resolve(folder))]
  const generator = forkTypescript('load/main.ts')
  const meters = services.map((service) => meterOf(service, generator))
  try {
    for (const meter of meters) {
      await letAllReport(meter)
      // Lets the engine compile the code.
      for (const shape of SHAPES) await meter.measure(shape, { seconds: 3 * SECONDS })
    }
    const rows: Row[] = []
    for (const shape of SHAPES) {
      const ratios: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        progress(`pair ${round + 1} of ${rounds}: ${shape.name}`)
        const costs = new Map<object, number>()
        for (const meter of round % 2 === 0 ? meters : meters.toReversed()) {
          costs.set(meter, (await meter.measure(shape, { seconds: SECONDS })).cpuMicros)
        }
        const [own = NaN, other = NaN] = meters.map((meter) => costs.get(meter))
        ratios.push(own / other)
      }
      const { p25, p75 } = percentiles(ratios)
      rows.push({
        load: shape.name,
        'CPU time ÷ theirs': median(ratios),
        'first quartile': p25,
        'third quartile': p75,
      })
    }
    const faults = (await Promise.all(meters.map((meter) => meter.faults()))).flat()
    return { title: `This checkout ÷ ${folder}`, rows, faults }
  } finally {
    await generator.stop()
    for (const service of services) await service.stop()
  }
}

/** The parts of a checkout that open the files of its service. */
type Files = {
  readonly openSqliteEventLog: (options: {
    file: string
    clock: Clock
  }) => Embedded.EmbeddedFiles['eventLog']
  readonly openSqliteStore: (options: { directory: string }) => Embedded.EmbeddedFiles['store']
}

/** The service of a checkout; its files are read with that checkout's code. */
async function start(root: string) {
  const load = <Module>(file: string) => import(join(root, file)) as Promise<Module>
  const { startEmbeddedCandidate } = await load<typeof Embedded>('bench/candidates/embedded.ts')
  const { openSqliteEventLog } = await load<Files>('event-log/sqlite/sqlite-event-log.ts')
  const { openSqliteStore } = await load<Files>('store/sqlite/sqlite-store.ts')
  return startEmbeddedCandidate((directory) => ({
    eventLog: openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock }),
    store: openSqliteStore({ directory }),
  }))
}
