import { join } from 'node:path'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { fillLog, type Events } from '../events.ts'
import { progress, runJob } from '../fork.ts'
import { median } from '../statistics.ts'
import type { Adapters, Order, Topics } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { projectAll, type Speed } from './project.ts'

type ProjectorOrder = Events & {
  readonly rounds: number
  /** Absent: from the embedded log into SQLite. `url`: MongoDB's, without a database. */
  readonly kafka?: Topics & { readonly url: string }
}

/** Measured alternately in each round. Without a number of geofences no facts are decided. */
const WAYS: readonly { readonly facts: string; readonly geofences?: number }[] = [
  { facts: 'none' },
  { facts: 'decided', geofences: 0 },
  { facts: 'with 10 000 geofences', geofences: 10_000 },
]

/** Projects a full log into each store, with and without deciding facts. */
export async function measureProjector({ parts, short, rounds, servers }: Order): Promise<Part> {
  const rows: Row[] = []
  if (parts.has('sqlite')) {
    const fleet = short ? { events: 20_000, devices: 500 } : { events: 200_000, devices: 2_000 }
    rows.push(...(await rowsOf('SQLite', { ...fleet, rounds })))
  }
  if (parts.has('mongodb')) {
    const { brokers, mongodbUrl } = await servers()
    const kafka = { brokers, topicPrefix: 'bench-projector', url: mongodbUrl('') }
    // Few: the stand-in for MongoDB is slow.
    const fleet = short ? { events: 2_000, devices: 100 } : { events: 10_000, devices: 200 }
    rows.push(...(await rowsOf('MongoDB', { ...fleet, rounds, kafka })))
  }
  return { title: 'Projecting a full log', rows, faults: [] }
}

async function rowsOf(into: string, order: ProjectorOrder): Promise<Row[]> {
  progress(`projector into ${into}: filling the log`)
  const { events, devices } = order
  const measured = await runJob<Speed[][]>('projectInRounds', order)
  const [without = []] = measured
  return measured.map((own, n) => {
    const ratios = own.map(({ cpuMicros }, round) => cpuMicros / (without[round]?.cpuMicros ?? NaN))
    return {
      into,
      facts: WAYS[n]?.facts ?? '',
      'events/s': median(own.map(({ perSecond }) => perSecond)),
      'CPU µs/event': median(own.map(({ cpuMicros }) => cpuMicros)),
      '÷ without': median(ratios),
      events,
      devices,
    }
  })
}

/**
 * Projects one log again and again, each time into an empty store. Returns each variant's speeds in
 * the rounds.
 */
export async function projectInRounds(
  { rounds, kafka, ...fleet }: ProjectorOrder,
  { openLog, openTopics, openStore, openDatabase }: Adapters,
): Promise<Speed[][]> {
  const directory = await temporaryDirectory()
  const eventLog = kafka === undefined ? openLog(directory.path) : openTopics(kafka)
  // The stand-in for MongoDB takes minutes for geofences.
  const ways = kafka === undefined ? WAYS : WAYS.slice(0, 2)
  const measured = ways.map((): Speed[] => [])
  try {
    await fillLog(eventLog, fleet)
    // Round 0 is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`)
      for (const [n, { geofences }] of ways.entries()) {
        const name = `bench-${round}-${n}`
        const url = kafka?.url.replace('/?', `/${name}?`)
        const store =
          url === undefined ? openStore(join(directory.path, name)) : await openDatabase(url)
        const speed = await projectAll({ eventLog, store }, { ...fleet, geofences })
        if (round > 0) measured[n]?.push(speed)
      }
    }
    return measured
  } finally {
    await eventLog.close()
    await directory.remove()
  }
}
