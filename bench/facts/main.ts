import { join } from 'node:path'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { carryOut } from '../fork.ts'
import { fillLog } from '../projector/fill-log.ts'
import { judgingInto } from './judging.ts'
import { REPORTING, type FactsOrder, type FactsRound } from './measure.ts'
import { projectAll } from '../projector/project.ts'

/** Projects a log into SQLite or MongoDB, in turn without facts and with them, in rounds. */
carryOut(async (order: FactsOrder, progress): Promise<FactsRound[]> => {
  const { events, devices, rounds, reporting, geofences, mongodbUrl } = order
  const { everyMs, isExpected } = REPORTING[reporting]
  const directory = await temporaryDirectory()
  const eventLog = openSqliteEventLog({ file: join(directory.path, 'log.sqlite'), clock })
  let opened = 0

  function openStore(number: number) {
    if (mongodbUrl === undefined) {
      return openSqliteStore({ directory: join(directory.path, String(number)) })
    }
    const url = mongodbUrl.replace('/?', `/bench-facts-${process.pid}-${number}?`)
    return openMongoStore({ url, logger: createLogger({ level: 'error', name: 'bench' }), clock })
  }

  async function project(withGeofences?: number) {
    opened += 1
    const store = await openStore(opened)
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
    // Round 0 is not counted, unless it is the only one.
    for (let round = rounds === 1 ? 1 : 0; round <= rounds; round += 1) {
      progress(`facts, a report every ${reporting}: round ${round} of ${rounds}`)
      const without = await project()
      const withFacts: Awaited<ReturnType<typeof project>>[] = []
      for (const count of geofences) withFacts.push(await project(count))
      const residentMB = process.memoryUsage.rss() / 2 ** 20
      if (round > 0) measured.push({ without, withFacts, residentMB })
    }
    return measured
  } finally {
    await eventLog.close()
    await directory.remove()
  }
})
