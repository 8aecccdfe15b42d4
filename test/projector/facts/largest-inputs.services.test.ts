import { expect } from '@jest/globals'
import { BSON } from 'mongodb'
import type { ProjectionEntry } from '../../../schemas/events/log-entry.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { openFactCollections } from '../../../store/mongo/fact-documents.ts'
import { factWrites } from '../../../store/mongo/judge-facts.ts'
import { databaseOf, openClient } from '../../../store/mongo/mongo-client.ts'
import type { Store } from '../../../store/store.ts'
import { newGeofence } from '../../contracts/store-definitions.ts'
import { startJudging } from '../../model/judging.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite, type OnADatabase } from '../../store/mongo/database.ts'

const MINUTE = 60_000
const HOME = { latitude: 45.27, longitude: 13.7 }
/** The facts of one device in a burst. */
const BURST = 1_200
/** 1 MiB, and the facts of one input: of 100 geofences, 200 rules and 16 alarms. */
const MOST_WRITTEN = 2 ** 20 + 316 * 600

await describeWith(['mongodb'], 'the largest inputs', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    '1000 reports with as many alarm names as an attribute holds, twice: 1200 facts, and the next one counts the others',
    async (given) => {
      await withProjector(given, async ({ clock, report, project, facts }) => {
        for (let batch = 0; batch < 2; batch += 1) {
          for (let n = 0; n < 1_000; n += 1) report('phone', { attributes: { alarm: alarms(n) } })
          report('truck')
          await project()
        }
        const made = await facts('phone')
        expect(made).toHaveLength(BURST)
        expect(made.filter(({ type }) => type === 'alarm.reported')).toHaveLength(BURST - 1)
        expect(await facts('truck')).toMatchObject([{ type: 'device.online' }])
        clock.time += MINUTE
        report('phone', { attributes: { alarm: 'sos' } })
        await project()
        const suppressed = 2 * 16_000 + 1 - BURST
        const [next] = await facts('phone')
        expect(next).toMatchObject({ alarm: 'sos', sequence: BURST + 1, suppressed })
      })
    },
  )

  promise(
    '1200 geofences around one position: a device enters and leaves the 100 smallest, and others go on',
    async (given) => {
      const { accountId } = given
      const far = { latitude: 10 }
      await withProjector(given, async (world) => {
        const made = Array.from({ length: 1_200 }, (_, n) => around(accountId, n))
        for (let at = 0; at < made.length; at += 100) {
          await world.store.createGeofences(made.slice(at, at + 100))
        }
        world.report('van')
        world.report('truck', far)
        await world.project()
        world.clock.time += MINUTE
        world.report('van', far)
        world.report('truck')
        await world.project()
        const facts = await world.facts('van')
        const smallest = made.slice(0, 100).map(({ id }) => id)
        const inType = (type: string) =>
          facts.flatMap((fact) =>
            fact.type === type && 'geofence' in fact ? fact.geofence.id : [],
          )
        expect(new Set(inType('geofence.entered'))).toEqual(new Set(smallest))
        expect(new Set(inType('geofence.left'))).toEqual(new Set(smallest))
        expect(facts).toHaveLength(201)
        expect(await world.facts('truck')).toHaveLength(101)
      })
    },
  )
})

/** 16 of them count, and no two consecutive reports share one. */
function alarms(report: number): string {
  const first = report % 2 === 0 ? ':' : 'J'
  const names = Array.from({ length: 128 }, (_, n) =>
    String.fromCharCode(first.charCodeAt(0) + (n % 16)),
  )
  return names.join()
}

function around(accountId: string, n: number) {
  const shape = { type: 'circle' as const, ...HOME, radius: 100 + n }
  return newGeofence({ accountId, name: `Zone ${n}`, createdAt: T0 - 60 * MINUTE, shape })
}

/** A projector whose writes of states and facts can be observed. */
async function withProjector(
  { open, url, accountId }: OnADatabase,
  check: (world: ReturnType<typeof startWorld>) => Promise<void>,
): Promise<void> {
  const client = openClient(url, { monitorCommands: true })
  const sent: number[] = []
  client.on('commandStarted', ({ commandName, command }) => {
    if (['insert', 'update'].includes(commandName)) sent.push(BSON.calculateObjectSize(command))
  })
  const collections = openFactCollections(databaseOf(client, url))
  try {
    const opened = await open()
    await opened.beginFacts({})
    await check(startWorld({ opened, accountId, collections }))
    expect(sent.length).toBeGreaterThan(2)
    expect(Math.max(...sent)).toBeLessThan(MOST_WRITTEN)
  } finally {
    await client.close()
  }
}

function startWorld({
  opened,
  accountId,
  collections,
}: {
  opened: Store
  accountId: string
  collections: ReturnType<typeof openFactCollections>
}) {
  const clock = { time: T0, now: () => clock.time }
  const store: Store = { ...opened, ...factWrites({ collections, clock }) }
  const log: ProjectionEntry[] = []
  return {
    store,
    clock,
    project: startJudging(store, log, { clock }).project,
    facts: (deviceId: string) => store.pageFacts({ accountId, deviceId, limit: 2_000 }),
    report: (deviceId: string, more: Partial<PositionReported> = {}): void => {
      const times = { timestamp: clock.time, receivedAt: clock.time }
      const event = positionReported({ accountId, deviceId, ...HOME, ...times, ...more })
      log.push({ kind: 'position', origin: { partition: 0, offset: log.length }, event })
    },
  }
}
