import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { checkSqliteLog, openSqliteLogWriter } from '../event-log/sqlite/sqlite-event-log.ts'
import { startIngestApi } from '../ingest-api/service.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { privateDirectory, holdDirectory } from '../runtime/sqlite/data-directory.ts'
import { COULD_NOT_START, runProgram, type Program } from '../runtime/process/program.ts'
import { checkSqliteStore, openSqliteGrants } from '../store/sqlite/sqlite-store.ts'
import { joinThread, limitPace } from './calls.ts'
import { replaceHost, LAN_SETTINGS, lanAddress, lanWelcome, welcome } from './welcome.ts'
import { type MainThread, type WorkerThread, awaitEnd } from './threads.ts'

/**
 * The interval at which the worker is woken while reports keep arriving: each wake-up costs both
 * threads.
 */
const WOKEN_EVERY_MS = 10

const isLan = process.argv.includes('--lan')
const settings: Readonly<Record<string, string>> = isLan ? LAN_SETTINGS : {}

await runProgram('gps', serve, {
  options: {
    '--lan': 'for phones in your own network: listens on all addresses, prints a QR code',
  },
  settings,
})

/**
 * The three services in one process, on SQLite files in the data directory. This thread serves the
 * devices and is the only one to write the log. The worker does the rest, so that no export, search
 * or projection delays a response to a device.
 */
async function serve(program: Program): Promise<void> {
  const { config, logger, lifecycle, metrics } = program
  if (config.distributed !== undefined) {
    throw new Error(
      'this program works on its own files and uses no KAFKA_BROKERS and MONGODB_URL: unset them, or run ' +
        'the four services with npm run start:ingest-api, start:projector, start:admin-api and start:deliverer ' +
        '(in the image: scripts/start.sh ingest-api, projector, admin-api and deliverer)',
    )
  }

  const address = isLan ? lanAddress(networkInterfaces()) : undefined
  const directory = resolve(config.dataDir)
  privateDirectory(directory, { variable: 'DATA_DIR', logger })
  const held = holdDirectory(directory, { variable: 'DATA_DIR' })
  lifecycle.onClose('data directory', async () => held.release())
  // Before any file is migrated, which an older program could not undo.
  const file = join(directory, 'log.sqlite')
  checkSqliteLog(file)
  checkSqliteStore(directory)
  const eventLog = openSqliteLogWriter({
    file,
    clock,
    onAppended: limitPace(WOKEN_EVERY_MS, () => worker.notify('appended')),
    onTopicAppended: (topic) => worker.notify('appendedTo', topic),
  })
  lifecycle.onClose('event log', () => eventLog.close())

  // The first thread with an asynchronous task starts libuv's threads, which inherit its priority. They
  // decompress the devices' requests, so they must not have the worker's.
  await stat(directory)
  const thread = new Worker(new URL('./worker/main.js', import.meta.url), {
    workerData: settings,
    // Its default ignores the limit of this thread and could exceed the machine's memory.
    resourceLimits: { maxOldGenerationSizeMb: getHeapStatistics().heap_size_limit / 1024 ** 2 },
  })
  const worker = joinThread<MainThread, WorkerThread>(thread, {
    erase: eventLog.erase,
    appendDeadLetters: eventLog.deadLetters.append,
    commitTopic: eventLog.commitTopic,
    trim: (receivedBefore) => eventLog.trim(receivedBefore, lifecycle.stopping),
    metrics: () => metrics.threads.json(),
    // The worker has logged the reason.
    ending: async () => {
      if (!lifecycle.stopping.aborted) lifecycle.failQuietly()
    },
  })
  metrics.threads.join(() => worker.call('metrics'))
  let isStarted = false
  const event = () => (isStarted ? 'the worker thread has ended' : COULD_NOT_START)
  const ended = awaitEnd(thread, { worker, lifecycle, event })
  lifecycle.stopping.addEventListener('abort', () => worker.notify('stop'))
  lifecycle.onClose('worker thread', async () => {
    worker.notify('finish')
    await ended
  })
  await worker.call('opened')

  // Read in this thread, so that a busy worker does not delay responses to devices.
  const grants = openSqliteGrants({ directory })
  lifecycle.onClose('keys', async () => grants.close())
  const store = {
    findGrant: grants.findGrant,
    touchKeys: (usedAt: ReadonlyMap<string, number>) => worker.call('touchKeys', usedAt),
    countRefusals: (refusals: Parameters<WorkerThread['countRefusals']>[0]) =>
      worker.call('countRefusals', refusals),
    saveInstance: (report: Parameters<WorkerThread['saveInstance']>[0]) =>
      worker.call('saveInstance', report),
    findDevice: (device: Parameters<WorkerThread['findDevice']>[0]) =>
      worker.call('findDevice', device),
  }
  const testSecret = randomBytes(32).toString('base64url')
  const ingestUrl = await startIngestApi({ eventLog, store, testSecret }, program)
  const toReachableUrl = (url: string) => (address === undefined ? url : replaceHost(url, address))
  const { url: adminUrl, generated } = await worker.call('startAdminApi', {
    url: toReachableUrl(ingestUrl),
    testSecret,
  })
  isStarted = true
  const { consolePublicUrl } = config
  if (generated !== undefined) {
    process.stdout.write(welcome({ secrets: generated, ingestUrl, adminUrl, consolePublicUrl }))
  }
  if (isLan) process.stdout.write(lanWelcome(consolePublicUrl ?? toReachableUrl(adminUrl)))
}
