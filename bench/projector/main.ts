import { join } from 'node:path'
import type { EventLog } from '../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { createLogger } from '../../runtime/logger.ts'
import { openReadModels } from '../../store/mongo/collections.ts'
import { databaseOf, openClient } from '../../store/mongo/connection.ts'
import { deviceDocument } from '../../store/mongo/device-documents.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { positionDocument } from '../../store/mongo/position-documents.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import * as bareMongo from './bare-mongo.ts'
import * as bareSqlite from './bare-sqlite.ts'
import { fillLog } from './fill-log.ts'
import type { ProjectorOrder, ProjectorRound } from './measure.ts'
import { projectAll, type Projected } from './project.ts'

/**
 * A process that projects a log, and then writes the same documents with the bare driver, in
 * rounds. Sends the speeds of each round to the bench.
 */
const logger = createLogger({ level: 'error', name: 'bench' })

process.on('disconnect', () => process.exit())
process.once('message', (order: ProjectorOrder) => {
  const done = order.store === 'SQLite' ? intoSqlite(order) : intoMongo(order)
  done.then(
    () => process.exit(0),
    (error: unknown) => {
      process.send?.({ failed: error instanceof Error ? error.stack : String(error) })
    },
  )
})

async function intoSqlite({ events, devices, rounds }: ProjectorOrder): Promise<void> {
  const directory = await temporaryDirectory()
  const eventLog = openSqliteEventLog({ file: join(directory.path, 'log.sqlite'), clock })
  try {
    await fillLog(eventLog, { events, devices })
    const batches: bareSqlite.Documents[] = []
    // The first round is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const own = join(directory.path, String(round))
      const store = openSqliteStore({ directory: own })
      const projected = await projectAll({
        ...{ eventLog, store, events, generation: round + 1 },
        ...(round === 0 && {
          onProjected: (one: Projected) => batches.push(bareSqlite.documentsOf(one)),
        }),
      })
      await store.close()
      const like = join(own, 'read-models-1.sqlite')
      const bare = bareSqlite.writeDocuments(batches, join(own, 'bare.sqlite'), like)
      if (round > 0) tell({ projected, bare })
    }
  } finally {
    await eventLog.close()
    await directory.remove()
  }
}

async function intoMongo(order: ProjectorOrder & { store: 'MongoDB' }): Promise<void> {
  const { events, devices, rounds, brokers, topicPrefix } = order
  const eventLog: EventLog = openKafkaEventLog({
    ...{ brokers, topicPrefix, ssl: false, clientId: 'gps-bench', clock, logger },
    onFatal: (error) => process.send?.({ failed: error.message }),
  })
  await fillLog(eventLog, { events, devices })
  const batches: bareMongo.Documents[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const own = order.mongodbUrl.replace('/?', `/bench-projector-${round}?`)
    const bareUrl = order.mongodbUrl.replace('/?', `/bench-bare-${round}?`)
    const [store, bareStore] = [await open(own), await open(bareUrl)]
    const projected = await projectAll({
      ...{ eventLog, store, events, generation: round + 1 },
      ...(round === 0 && { onProjected: (one: Projected) => batches.push(documentsOf(one)) }),
    })
    await store.close()
    const client = openClient(bareUrl)
    const db = databaseOf(client, bareUrl)
    const { positions, deviceStatuses } = openReadModels(db, 1)
    const bare = await bareMongo.writeDocuments(batches, db, {
      positions: positions.collectionName,
      deviceStatuses: deviceStatuses.collectionName,
    })
    await client.close()
    await bareStore.close()
    if (round > 0) tell({ projected, bare })
  }
  await eventLog.close()
}

/** Also opened for the bare driver, because opening creates the same indexes. */
function open(url: string) {
  return openMongoStore({ url, logger, clock })
}

function documentsOf({ batch: { entries }, changes }: Projected): bareMongo.Documents {
  return {
    positions: entries.flatMap((entry) =>
      entry.kind === 'position' ? [positionDocument(entry)] : [],
    ),
    statuses: changes.flatMap(({ after }) =>
      after === undefined ? [] : [deviceDocument({ ...after, status: after })],
    ),
  }
}

function tell(round: ProjectorRound): void {
  process.send?.({ round })
}
