import { join } from 'node:path'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { runJob } from '../fork.ts'
import { median } from '../median.ts'
import type { JobTools, Order } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { fillLog } from './fill-log.ts'
import { judgingInto } from './judging.ts'
import { projectAll } from './project.ts'
import type { Speed } from './speed.ts'

/** How often the devices report; where no interval is expected, each is offline before its next report. */
const REPORTING = {
  '10 s': { everyMs: 10_000, isExpected: false },
  '2 h': { everyMs: 7_200_000, isExpected: true },
  '2 h, offline between': { everyMs: 7_200_000, isExpected: false },
} as const

type FactsOrder = {
  readonly events: number
  readonly devices: number
  readonly rounds: number
  readonly reporting: keyof typeof REPORTING
  /** Numbers of geofences to measure with. */
  readonly geofences: readonly number[]
  /** Without the database's name. Absent: into SQLite. */
  readonly mongodbUrl?: string
}

type FactsSpeed = Speed & { readonly factsPerEvent: number }

/** The first is without facts, the others with these numbers of geofences. */
type FactsRound = { readonly without: Speed; readonly withFacts: readonly FactsSpeed[] }

/** Projects full logs with and without deciding facts; every number is the median of the rounds. */
export async function measureFacts(order: Order): Promise<Part> {
  const { parts, short, rounds, progress } = order
  const devices = short ? 1_000 : 10_000
  const usual = { devices, events: 11 * devices, rounds, geofences: [0, 10_000] }
  const names = Object.keys(REPORTING) as FactsOrder['reporting'][]
  const orders: FactsOrder[] = names.map((reporting) => ({ ...usual, reporting }))
  if (parts.has('mongodb')) {
    const mongodbUrl = (await order.servers()).mongodbUrl('')
    // Few: the stand-in for MongoDB is slow.
    const few = { reporting: '10 s', devices: 200, events: 2_200, rounds } as const
    orders.push({ ...few, geofences: [0], mongodbUrl })
  }
  const rows: Row[] = []
  for (const one of orders) {
    rows.push(...rowsOf(one, await runJob<FactsRound[]>('projectWithFacts', one, progress)))
  }
  return { title: 'Deciding facts', rows, faults: [] }
}

function rowsOf(order: FactsOrder, rounds: readonly FactsRound[]): Row[] {
  return order.geofences.map((geofences, n): Row => {
    const inRounds = (value: (speed: FactsSpeed, round: FactsRound) => number) =>
      median(
        rounds.flatMap((round) => round.withFacts.slice(n, n + 1).map((one) => value(one, round))),
      )
    return {
      'a report every': order.reporting,
      geofences: String(geofences),
      devices: String(order.devices),
      into: order.mongodbUrl === undefined ? 'SQLite' : 'MongoDB',
      'CPU µs/event': inRounds(({ cpuMicros }) => cpuMicros),
      'without facts': inRounds((_, { without }) => without.cpuMicros),
      '÷ without': inRounds(({ cpuMicros }, { without }) => cpuMicros / without.cpuMicros),
      'time ÷ without': inRounds(({ perSecond }, { without }) => without.perSecond / perSecond),
      'facts/event': inRounds(({ factsPerEvent }) => factsPerEvent),
    }
  })
}

/** Projects a log into SQLite or MongoDB, in turn without facts and with them, in rounds. */
export async function projectWithFacts(
  { events, devices, rounds, reporting, geofences, mongodbUrl }: FactsOrder,
  { adapters, progress }: JobTools,
): Promise<FactsRound[]> {
  const { everyMs, isExpected } = REPORTING[reporting]
  const directory = await temporaryDirectory()
  const eventLog = adapters.openLog(directory.path)
  let opened = 0

  function openStore() {
    opened += 1
    if (mongodbUrl === undefined) return adapters.openStore(join(directory.path, String(opened)))
    const name = `bench-facts-${process.pid}-${opened}`
    return adapters.openDatabase(mongodbUrl.replace('/?', `/${name}?`))
  }

  async function project(withGeofences?: number): Promise<FactsSpeed> {
    const store = await openStore()
    let facts = 0
    const judging =
      withGeofences === undefined
        ? undefined
        : await judgingInto(store, {
            geofences: withGeofences,
            devices,
            ...(isExpected && { expectedIntervalSeconds: everyMs / 1_000 }),
            onFacts: (count) => (facts += count),
          })
    const close = () => store.close()
    const measuredAfter = Math.min(devices, events - 1)
    const log = { eventLog, store, events, generation: opened }
    const speed = await projectAll({ ...log, measuredAfter, judging, close })
    return { ...speed, factsPerEvent: facts / events }
  }

  try {
    await fillLog(eventLog, { events, devices, everyMs })
    const measured: FactsRound[] = []
    // Round 0 is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      progress(`facts, a report every ${reporting}: round ${round} of ${rounds}`)
      const without = await project()
      const withFacts: FactsSpeed[] = []
      for (const count of geofences) withFacts.push(await project(count))
      if (round > 0) measured.push({ without, withFacts })
    }
    return measured
  } finally {
    await eventLog.close()
    await directory.remove()
  }
}
