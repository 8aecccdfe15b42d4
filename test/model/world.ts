import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSpool, type SpoolOptions } from '../../event-log/spool/spool.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { acceptReports } from '../../ingest-api/accept/accept.ts'
import { DeviceLimit } from '../../ingest-api/accept/device-limit.ts'
import { KeyLimit } from '../../ingest-api/accept/key-limit.ts'
import type { Outcome } from '../../ingest-api/accept/outcome.ts'
import { Tally } from '../../ingest-api/accept/tally.ts'
import { rebuildReadModels } from '../../rebuild/rebuild.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { memoryRateCounters } from '../../runtime/rate-counters.ts'
import type { ProjectionEntry } from '../../schemas/log-entry.ts'
import { ulid } from '../../schemas/record-id.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'
import { away } from './away.ts'
import { copyFiles, isDead, killProcess, newProcess } from './faulty-driver.ts'
import { logger, metrics, projectSome } from './project-some.ts'

export const ACCOUNT = 'acc-1'
const memory = '/dev/shm'
const grant = {
  key: {
    ...{ id: 'key-1', accountId: ACCOUNT, name: 'model', hint: '', createdAt: T0 },
    scopes: ['positions:write'] as const,
  },
  accountSuspended: false,
  disabledDevices: new Set<string>(),
}

/** What happens to what the spool appends: its log is behind a line that can be cut. */
export const LINES = ['up', 'down', 'hung', 'mute', 'answers lost'] as const
export type Line = (typeof LINES)[number]

/** Time runs faster here, and a busy machine is no fault. */
const NEVER_MS = 1e8

export type Sent =
  | { readonly deviceId: string; readonly timestamp: number; readonly latitude: number }
  /** A heartbeat. */
  | { readonly seen: string }
export type Answer = Exclude<Outcome, { readonly kind: 'refused' }>

type Process = {
  readonly directory: string
  readonly log: EventLog
  readonly spool: ReturnType<typeof openSpool>
  readonly accept: ReturnType<typeof acceptReports>
  readonly letGo: () => void
  store: Store
}

/** The folders of all runs of this test. */
export function openWorlds() {
  const base = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'gps-model-'))
  let opened = 0
  let empty: string | undefined
  return {
    /** Nothing has ever been reported there. */
    async open() {
      opened += 1
      empty ??= await emptyFiles(join(base, 'empty'))
      return openWorld(join(base, String(opened)), empty)
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/**
 * The ingest API's way from reports to the log, by way of a spool, then projector, read models and
 * rebuild, on real files, in one process that may die at any statement.
 */
async function openWorld(folder: string, empty: string) {
  mkdirSync(folder)
  const clock = { time: T0 + 1_000_000, now: () => clock.time }
  let deaths = 0
  let line: Line = 'up'
  let erasures = 0
  let waiting: (() => void)[] = []
  copyFiles(empty, at(0))
  let process = start(at(0))

  function at(life: number): string {
    return join(folder, String(life))
  }

  function start(directory: string): Process {
    newProcess(() => copyFiles(directory, at(deaths + 1)))
    line = 'up'
    waiting = []
    const log = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
    const options: SpoolOptions = {
      ...{ directory: join(directory, 'spool'), clock, logger, directWithinMs: 2 },
      ...{ maxBytes: 2 ** 20, maxAgeSeconds: 3600 },
      eventLog: { ...log, append: throughTheLine(log) },
    }
    const spool = openSpool(options)
    const openCounters = memoryRateCounters
    return {
      ...{ directory, log, spool },
      letGo: () => waiting.splice(0).forEach((proceed) => proceed()),
      accept: acceptReports({
        eventLog: spool,
        keyLimit: new KeyLimit({ limit: 'off', openCounters }),
        deviceLimit: new DeviceLimit({ limit: 'off', openCounters }),
        tally: new Tally({
          metrics,
          rejections: { offer: () => ({ written: Promise.resolve(true) }) },
        }),
        clock,
      }),
      store: openSqliteStore({ directory, clock }),
    }
  }

  function throughTheLine(log: EventLog): EventLog['append'] {
    return async (events, options) => {
      const met = line
      const silence = () => new Promise<void>((resolve) => waiting.push(resolve))
      if (met === 'hung') await silence()
      if (met === 'hung' || met === 'down') throw away()
      await log.append(events, options)
      if (met === 'mute' && line === met) await silence()
      if (met !== 'up') throw away()
    }
  }

  async function reopenStore(): Promise<void> {
    await process.store.close()
    const opened = await attempt(async () => {
      process.store = openSqliteStore({ directory: process.directory, clock })
    })
    // A program that cannot open its store ends.
    if (!opened) killProcess()
  }

  async function close({ log, spool, store, letGo }: Process): Promise<void> {
    letGo()
    await Promise.allSettled([spool.close(), log.close(), store.close()])
  }

  return {
    clock,

    /** Sends batches at once; gives the answer to each, or undefined where there was none. */
    async send(batches: readonly (readonly Sent[])[]): Promise<(Answer[] | undefined)[]> {
      const { accept } = process
      const sent = batches.map(async (reports) => {
        const given = reports.map((report) =>
          'seen' in report
            ? report
            : { json: { ...report, longitude: 0, timestamp: isoTime(report.timestamp) } },
        )
        const { outcomes } = await accept(grant, given, { withinMs: NEVER_MS })
        return outcomes.map((outcome) => {
          if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.message}`)
          return outcome
        })
      })
      const answers = await Promise.allSettled(sent)
      return answers.map((answer) => {
        if (answer.status === 'fulfilled') return answer.value
        // Told as a 503; anything else is a fault of ours.
        if (answer.reason instanceof DependencyError) return undefined
        throw answer.reason
      })
    },

    /** As the admin API does it; true once it is answered. */
    async erase(deviceId: string): Promise<boolean> {
      erasures += 1
      const erasedAt = clock.now()
      const random = Buffer.alloc(10)
      random.writeUInt32BE(erasures)
      const erasure = {
        ...{ accountId: ACCOUNT, deviceId, erasedAt, eventId: ulid(erasedAt, random) },
      }
      return attempt(async () => {
        await process.log.erase(erasure)
        await process.store.hideErased(erasure)
      })
    },

    /**
     * Projects at most so many batches of these sizes, beginning so many entries before the
     * checkpoint; true if nothing is left.
     */
    project: (options: { sizes: readonly number[]; back: number; most: number }) =>
      attempt(() => projectSome(process, options)),

    /** Builds the read models anew, and does something meanwhile; false if it could not be finished. */
    async rebuild(meanwhile = async () => {}): Promise<boolean> {
      const { log, store } = process
      let switched = false
      const rebuilding = attempt(async () => {
        const outcome = await rebuildReadModels({
          ...{ eventLog: log, store, clock, metrics, logger, retentionDays: undefined },
          ...{ force: false, followedAfterMs: 0, screen: { write: () => undefined } },
          signal: new AbortController().signal,
        })
        if (outcome.kind === 'different' || outcome.kind === 'log too short') {
          throw new Error(`the rebuild: ${JSON.stringify(outcome)}`)
        }
        switched = outcome.kind === 'switched'
      })
      const [done] = await Promise.all([rebuilding, meanwhile()])
      // Readers follow a switch within two seconds, also one that was not told: these are opened anew.
      if (!isDead()) await reopenStore()
      return done && switched && !isDead()
    },

    becomes(state: Line): void {
      line = state
      process.letGo()
    },

    kill: killProcess,
    isDead,

    /** Starts it again if it has died. */
    async revive(): Promise<void> {
      if (!isDead()) return
      await close(process)
      rmSync(process.directory, { recursive: true })
      deaths += 1
      process = start(at(deaths))
    },

    /** Resolves once the spool is empty, or the process has died. */
    async drained(): Promise<void> {
      while (!isDead() && process.spool.depth().events > 0) await turn()
    },

    async device(deviceId: string) {
      const { store } = process
      const query = { accountId: ACCOUNT, deviceId }
      const [device, records] = await Promise.all([
        store.findDevice(query),
        store.pagePositions({ ...query, order: 'asc', limit: 1000 }),
      ])
      return { status: device?.status, records }
    },

    /** Everything in the log, in order. */
    async logged(): Promise<ProjectionEntry[]> {
      const found: ProjectionEntry[] = []
      const { next: end = 1 } = (await process.log.extent())[0] ?? {}
      if (end === 1) return found
      const reading = new AbortController()
      for await (const item of process.log.tail({ after: {}, signal: reading.signal })) {
        if (item.kind !== 'batch') continue
        found.push(...item.entries.filter((entry) => 'event' in entry))
        if (item.lastOffset >= end - 1) reading.abort()
      }
      return found
    },

    /** `keptIn`: a folder that gets the files. */
    async close({ keptIn }: { keptIn?: string } = {}): Promise<void> {
      await close(process)
      if (keptIn !== undefined) {
        rmSync(keptIn, { recursive: true })
        copyFiles(process.directory, keptIn)
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Making the files takes longer than copying them. */
async function emptyFiles(directory: string): Promise<string> {
  mkdirSync(join(directory, 'spool'), { recursive: true })
  const world = await openWorld(`${directory}-made`, directory)
  await world.close({ keptIn: directory })
  return directory
}

/** False if it failed in a way that callers are told to try again. */
async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof DependencyError) return false
    throw error
  }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
