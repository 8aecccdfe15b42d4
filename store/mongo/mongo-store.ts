import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Outage } from '../../runtime/process/outage.ts'
import { repeatUntilSuccess } from '../../runtime/process/repeat.ts'
import { checkpointOf, foldVersion, lastApplied } from './checkpoints.ts'
import { openCollections } from './collections.ts'
import {
  databaseOf,
  openClient,
  mongoOutage,
  guardMethods,
  startPreparing,
} from './mongo-client.ts'
import { readDisabledDevices } from './device-settings.ts'
import { mongoDevices } from './devices.ts'
import { mongoDocuments } from './documents.ts'
import { versionsOf } from './versions.ts'
import { mongoErasures } from './erasures.ts'
import { openFactCollections } from './fact-documents.ts'
import { mongoFacts } from './facts.ts'
import { generationScan, scanRecords } from './generation-scan.ts'
import { beginRebuild, followGeneration, openGeneration } from './generations.ts'
import { pendingErasures } from './hidden-devices.ts'
import { mongoReadModels, projection } from './read-models.ts'
import { backgroundRemoval } from './remove-erased.ts'
import { claimRetention, followRetention, retentionAt } from './retention.ts'
import { makeIndexes, prepareDatabase } from './schema.ts'
import { ANNOUNCED_ERASURES } from '../back-office/kinds.ts'
import { openBackOffice, openRejections } from '../back-office/open-back-office.ts'
import { removalOfOutdated } from '../back-office/outdated.ts'
import type { Generation, Rebuild } from '../generations.ts'
import type { ProjectionBatch } from '../read-models.ts'
import type { WantedRetention } from '../retention.ts'
import type { Store } from '../store.ts'

/** A caller gets a result or error within 6 s, even when the server does not respond to a call. */
const ANSWER_WITHIN_MS = 5_000
/** Enough time to index a new database; the indexes of a large one are built in the background. */
const INDEXED_WITHIN_MS = 1_000
const CLOSED_WITHIN_MS = 1_500

/** These make many calls to the server, each limited by the driver's time-outs. */
const MANY_CALLS: ReadonlySet<string> = new Set<keyof Store | keyof Generation | keyof Rebuild>([
  'project',
  'expire',
  'forgetErased',
  'finishErasures',
  'removeOutdated',
  'beginRebuild',
  'switchOver',
  'end',
  'origins',
  'accounts',
  'seedFacts',
  'judgeFacts',
  'eraseFacts',
  'expireFacts',
])

/**
 * The store in a MongoDB database, a standalone server or a replica set. It opens even while the
 * server is unavailable: every call then rejects (retriable) until the server is available. Only
 * the projector, which owns the retention, passes `retention`: it sets the store's retention, which
 * every process then applies when reading.
 * @throws {DependencyError} when a newer version of the program has changed the
 *   database, its user lacks a role, or no retention is configured although it has one.
 * @throws {Error} when the URL is not a MongoDB connection string.
 */
export async function openMongoStore({
  url,
  retention,
  logger: ownLogger,
  clock,
  outage = mongoOutage(ownLogger),
}: {
  url: string
  retention?: { wanted: WantedRetention }
  logger: Logger
  clock: { now(): number }
  /** The outages of the server, if other clients of the process use it too. */
  outage?: Outage
}): Promise<Store> {
  const logger = outage.quietLogger(ownLogger)
  const client = openClient(url)
  const db = databaseOf(client, url)
  const closing = new AbortController()
  let indexing: Promise<void> | undefined
  const preparation = await startPreparing(
    async (signal) => {
      // Connected explicitly: if the first call finds no server, the client stays closed for all
      // later ones.
      await client.connect()
      const readModels = await prepareDatabase(db, { clock, signal })
      indexing ??= repeatUntilSuccess(() => makeIndexes(db, readModels), {
        logger,
        signal: closing.signal,
        failure: 'could not create the MongoDB indexes; retrying',
      })
      await Promise.race([indexing, pause(INDEXED_WITHIN_MS, undefined, { signal, ref: false })])
      if (retention !== undefined) {
        await claimRetention(readModels, retention.wanted, (error) =>
          logger.warn({ err: error }, 'could not create the index that expires records'),
        )
      }
      return readModels
    },
    { logger, outage },
  ).catch(async (error: unknown) => {
    await client.close()
    throw error
  })

  const collections = openCollections(db)
  const { meta } = collections
  const inUse = followGeneration(db, meta)
  const readModels = () => inUse.readModels()
  const bounds = {
    checkPrepared: preparation.current,
    withinMs: ANSWER_WITHIN_MS,
    unbounded: MANY_CALLS,
    outage,
  }
  const removal = backgroundRemoval({ logger, signal: closing.signal })
  const project = projection({ removal, logger })
  const retentionDays = followRetention(readModels)
  const readKept = async () => retentionAt(clock.now(), await retentionDays())
  const rejections = openRejections(mongoDocuments(db), { clock })
  const announced = mongoDocuments(db)(ANNOUNCED_ERASURES)
  const erasures = mongoErasures({
    collections,
    readModels,
    announced,
    forgetting: {
      unshareDevice: (device) => backOffice.unshareDevice(device),
      forgetInDefinitions: (device) => backOffice.forgetInDefinitions(device),
      forgetAuditDetails: (device) => backOffice.forgetAuditDetails(device),
      forgetHandlings: (device) => backOffice.forgetHandlings(device),
      forgetRejections: (device) => rejections.forgetRejections(device),
      clock,
    },
  })
  const backOffice = openBackOffice(mongoDocuments(db), {
    disabledDevices: (accountId) => readDisabledDevices(collections.deviceSettings, accountId),
    livesOf: (query) => erasures.livesOf(query),
  })
  const store: Omit<Store, 'close'> = {
    ...mongoReadModels({ collections, readModels, kept: readKept, project }),
    ...mongoDevices({ collections, readModels, kept: readKept }),
    ...erasures,
    retentionDays,
    ...backOffice,
    ...rejections,
    ...removalOfOutdated(mongoDocuments(db)),
    ...mongoFacts({
      collections: openFactCollections(db),
      clock,
      deviceSettings: collections.deviceSettings,
      settingsVersions: versionsOf(db, 'device_settings'),
      hiddenDevices: async (accountId) => {
        const { hiddenDevices } = collections
        const { deviceStatuses } = await readModels()
        return [...(await pendingErasures({ hiddenDevices, deviceStatuses }, { accountId })).keys()]
      },
    }),
    currentGeneration: () => inUse.number(),
    openGeneration: async (generation) => {
      const opened = await openGeneration(db, meta, generation)
      // Continues the removals of a projector that was stopped.
      removal.begin(opened)
      const methods = {
        ...generationScan(opened),
        project: (batch: ProjectionBatch) => project(opened, batch),
        checkpoint: () => checkpointOf(opened),
        lastApplied: () => lastApplied(opened),
        foldVersion: () => foldVersion(opened),
      }
      return {
        ...guardMethods(methods, bounds),
        scanRecords: (query) => scanRecords(opened, query),
        close: async () => undefined,
      }
    },
    beginRebuild: async () => {
      const begun = await beginRebuild(db, collections, { clock })
      const methods = begun && {
        settleErasures: () => begun.settleErasures(),
        switchOver: () => begun.switchOver(),
        end: () => begun.end(),
      }
      return methods && { ...begun, ...guardMethods(methods, bounds) }
    },
    ready: async () => {
      await db.command({ ping: 1 })
    },
  }

  return {
    ...guardMethods(store, bounds),

    // Calls without a response from the server end with the driver's time-outs, or with the
    // process.
    async close() {
      closing.abort()
      const closed = preparation
        .stop()
        .then(() => Promise.all([client.close(), indexing, removal.ended()]))
      await Promise.race([closed, pause(CLOSED_WITHIN_MS, undefined, { ref: false })])
    },
  }
}
