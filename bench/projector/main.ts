import { join } from 'node:path'
import { openKafkaEventLog } from '../../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { openReadModels } from '../../store/mongo/collections.ts'
import { databaseOf, openClient } from '../../store/mongo/mongo-client.ts'
import { deviceDocument } from '../../store/mongo/device-documents.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { positionDocument } from '../../store/mongo/position-documents.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { carryOut } from '../fork.ts'
import type { BenchProgress } from '../progress.ts'
import * as bareMongo from './bare-mongo.ts'
import * as bareSqlite from './bare-sqlite.ts'
import { fillLog } from './fill-log.ts'
import type { ProjectorOrder, ProjectorRound } from './measure.ts'
import { projectAll, type Projected } from './project.ts'

const logger = createLogger({ level: 'error', name: 'bench' })

/** Projects a log, and then writes the same documents with the bare driver, in rounds. */
carryOut((order: ProjectorOrder, progress) =>
  order.store === 'SQLite' ? intoSqlite(order, progress) : intoMongo(order, progress),
)

async function intoSqlite(
  order: ProjectorOrder,
  progress: BenchProgress,
): Promise<ProjectorRound[]> {
  const { events, devices, rounds } = order
  const directory = await temporaryDirectory()
  const eventLog = openSqliteEventLog({ file: join(directory.path, 'log.sqlite'), clock })
  try {
    await fillLog(eventLog, { events, devices })
    const batches: bareSqlite.Documents[] = []
    const measured: ProjectorRound[] = []
    // Round 0 is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      progress(`projector into SQLite: round ${round} of ${rounds}`)
      const own = join(directory.path, String(round))
      const store = openSqliteStore({ directory: own })
      const projected = await projectAll({
        eventLog,
        store,
        events,
        generation: round + 1,
        ...(round === 0 && {
          onProjected: (one: Projected) => batches.push(bareSqlite.documentsOf(one)),
        }),
      })
      await store.close()
      const like = join(own, 'read-models-1.sqlite')
      const bare = bareSqlite.writeDocuments(batches, join(own, 'bare.sqlite'), like)
      if (round > 0) measured.push({ projected, bare })
    }
    return measured
  } finally {
    await eventLog.close()
    await directory.remove()
  }
}

async function intoMongo(
  order: ProjectorOrder & { store: 'MongoDB' },
  progress: BenchProgress,
): Promise<ProjectorRound[]> {
  const { events, devices, rounds, brokers, topicPrefix } = order
  const eventLog = openKafkaEventLog({
    brokers,
    topicPrefix,
    ssl: false,
    clientId: 'gps-bench',
    clock,
    logger,
    onFatal: (error) => {
      throw error
    },
  })
  await fillLog(eventLog, { events, devices })
  const batches: bareMongo.Documents[] = []
  const measured: ProjectorRound[] = []
  for (let round = 0; round <= rounds; round += 1) {
    progress(`projector into MongoDB: round ${round} of ${rounds}`)
    const own = order.mongodbUrl.replace('/?', `/bench-projector-${round}?`)
    const bareUrl = order.mongodbUrl.replace('/?', `/bench-bare-${round}?`)
    const [store, bareStore] = [await open(own), await open(bareUrl)]
    const projected = await projectAll({
      eventLog,
      store,
      events,
      generation: round + 1,
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
    if (round > 0) measured.push({ projected, bare })
  }
  await eventLog.close()
  return measured
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
