import { constants, getPriority, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { startAdminApi } from '../../admin-api/service.ts'
import { DELIVERER_FEEDS, startDeliverer } from '../../deliverer/service.ts'
import { openFeeds } from '../../event-log/reading/open-feeds.ts'
import { openSqliteLogReader } from '../../event-log/sqlite/sqlite-event-log.ts'
import { startProjector } from '../../projector/service.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { runProgram, type Program } from '../../runtime/process/program.ts'
import { sealedSecrets, readOrCreateSecretsKey } from '../../runtime/process/sealed-secrets.ts'
import { dataBytes, freeBytes, lastBackupAt } from '../../runtime/sqlite/data-directory.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { joinThread, type Peer } from '../calls.ts'
import type { MainThread, WorkerThread } from '../threads.ts'
import { exportData } from './data-gauges.ts'

/**
 * Niceness: when threads compete for a processor, the one that answers the devices takes
 * precedence.
 */
const NICER = 10

await runProgram('gps', serve, { settings: workerData as Readonly<Record<string, string>> })

/**
 * The worker thread of the embedded process: projector, read models, deliverer and admin API. It reads the log;
 * the main thread does its writes to the log.
 */
async function serve(program: Program): Promise<void> {
  if (parentPort === null) throw new Error('this is not a program: start embedded/main')
  // Elsewhere this would change the priority of the whole process.
  if (process.platform === 'linux') {
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER))
  }
  const { config, logger, lifecycle, metrics } = program
  const directory = resolve(config.dataDir)
  let finish = () => {}
  const finished = new Promise<void>((done) => (finish = done))

  const measureData = async () => ({
    storage: { dataBytes: await dataBytes(directory), freeBytes: await freeBytes(directory) },
    lastBackupAt: await lastBackupAt(directory),
  })

  const secrets = sealedSecrets(config.secretsKey ?? readOrCreateSecretsKey(directory))

  const main: Peer<MainThread> = joinThread<WorkerThread, MainThread>(parentPort, {
    opened: async () => undefined,
    startAdminApi: (ownIngest) =>
      startAdminApi(
        { store, eventLog, factLog, secrets, mode: 'embedded', ownIngest, measureData },
        program,
      ),
    touchKeys: (usedAt) => store.touchKeys(usedAt),
    countRefusals: (refusals) => store.countRefusals(refusals),
    findDevice: (device) => store.findDevice(device),
    saveInstance: (report) => store.saveInstance(report),
    appended: async () => reader.appended(),
    appendedTo: async (topic) => reader.appendedTo(topic),
    metrics: () => metrics.threads.json(),
    stop: async () => lifecycle.stop(),
    finish: async () => finish(),
  })
  metrics.threads.join(() => main.call('metrics'))
  exportData(metrics.registry, directory)
  const reader = openSqliteLogReader({
    file: join(directory, 'log.sqlite'),
    commitTopic: (topic, group, offset) => main.call('commitTopic', topic, group, offset),
    clock,
    logger,
  })
  lifecycle.onClose('event log', () => reader.close())
  const eventLog = {
    ...reader,
    erase: (event: Parameters<MainThread['erase']>[0]) => main.call('erase', event),
    deadLetters: {
      ...reader.deadLetters,
      append: (entries: Parameters<MainThread['appendDeadLetters']>[0]) =>
        main.call('appendDeadLetters', entries),
    },
    trim: (receivedBefore: number) => main.call('trim', receivedBefore),
  }
  const store = openSqliteStore({
    directory,
    retention: { wanted: config.retention },
    onMigration: (file) =>
      logger.info(
        { file },
        'upgrading the store to this version: takes about a minute for ten million records',
      ),
  })
  lifecycle.onClose('store', () => store.close())
  lifecycle.onClose('calls of the main thread', () => finished)
  lifecycle.stopping.addEventListener('abort', () => main.notify('ending'))
  const { factLog } = store
  startProjector({ eventLog, store }, program)
  const { stopping } = lifecycle
  const options = DELIVERER_FEEDS
  const feeds = openFeeds({ eventLog, factLog, store, logger, stopping, options })
  startDeliverer({ feeds, store, secrets, owner: 'embedded' }, program)
}
