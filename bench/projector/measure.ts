import { join } from 'node:path'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { runJob } from '../fork.ts'
import { median } from '../median.ts'
import type { JobTools, Order, Topics } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { writeMongoAgain } from './bare-mongo.ts'
import { writeSqliteAgain } from './bare-sqlite.ts'
import { fillLog } from './fill-log.ts'
import { projectAll } from './project.ts'
import type { Speed } from './speed.ts'

type ProjectorOrder = {
  readonly events: number
  readonly devices: number
  readonly rounds: number
  /** Absent: from the embedded log into SQLite. `url`: of MongoDB, without a database. */
  readonly kafka?: Topics & { readonly url: string }
}

type ProjectorRound = { readonly projected: Speed; readonly bare: Speed }

/** Projects a full log into each store; every number is the median of the rounds. */
export async function measureProjector(order: Order): Promise<Part> {
  const { parts, short, rounds } = order
  const rows: Row[] = []
  if (parts.has('sqlite')) {
    const events = short ? 20_000 : 100_000
    rows.push(await measureInto('SQLite', { events, devices: 10_000, rounds }, order))
  }
  if (parts.has('mongodb')) {
    const { brokers, mongodbUrl } = await order.servers()
    const kafka = { brokers, topicPrefix: 'bench-projector', url: mongodbUrl('') }
    const events = short ? 2_000 : 10_000
    rows.push(await measureInto('MongoDB', { events, devices: 1_000, rounds, kafka }, order))
  }
  return { title: 'Projecting a full log', rows, faults: [] }
}

async function measureInto(
  into: string,
  order: ProjectorOrder,
  { progress }: Pick<Order, 'progress'>,
): Promise<Row> {
  progress(`projector into ${into}: filling the log`)
  const rounds = await runJob<ProjectorRound[]>('projectInRounds', order, progress)
  return {
    into,
    'events/s': median(rounds.map(({ projected }) => projected.perSecond)),
    'bare driver loop': median(rounds.map(({ bare }) => bare.perSecond)),
    '÷ bare': median(rounds.map(({ projected, bare }) => projected.perSecond / bare.perSecond)),
    'CPU µs/event': median(rounds.map(({ projected }) => projected.cpuMicros)),
    events: order.events,
    devices: order.devices,
  }
}

/** Projects a log, and then writes the same documents with the bare driver, in rounds. */
export async function projectInRounds(
  { rounds, kafka, ...order }: ProjectorOrder,
  { adapters, progress }: JobTools,
): Promise<ProjectorRound[]> {
  const { events } = order
  const directory = await temporaryDirectory()
  const { openLog, openTopics, openStore, openDatabase } = adapters
  const eventLog = kafka === undefined ? openLog(directory.path) : openTopics(kafka)
  try {
    await fillLog(eventLog, order)
    const measured: ProjectorRound[] = []
    // Round 0 is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`)
      const url = (name: string) => kafka?.url.replace('/?', `/bench-${name}-${round}?`) ?? ''
      const own = join(directory.path, String(round))
      const store = kafka === undefined ? openStore(own) : await openDatabase(url('projector'))
      const batches: number[] = []
      const generation = round + 1
      const onProjected = (count: number) => batches.push(count)
      const projected = await projectAll({ eventLog, store, events, generation, onProjected })
      await store.close()
      let bare: Speed
      if (kafka === undefined) bare = writeSqliteAgain(own, batches)
      else {
        // Opening creates the same indexes.
        const other = await openDatabase(url('bare'))
        bare = await writeMongoAgain({ from: url('projector'), to: url('bare') }, batches)
        await other.close()
      }
      if (round > 0) measured.push({ projected, bare })
    }
    return measured
  } finally {
    await eventLog.close()
    await directory.remove()
  }
}
