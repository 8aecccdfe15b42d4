import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Outcome } from '../../ingest-api/accept/outcome.ts'
import { rebuildReadModels } from '../../commands/rebuild/rebuild.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { ProjectionEntry } from '../../schemas/events/log-entry.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { T0 } from '../samples.ts'
import { copyFiles, isDead, killProcess, newProcess } from './faulty-driver.ts'
import type { Line } from './line.ts'
import { closeProcess, startProcess, type Process } from './process.ts'
import { logger, metrics, projectSome } from './project-some.ts'

const ACCOUNT = 'acc-1'
const grant = {
  key: {
    id: 'key-1',
    accountId: ACCOUNT,
    name: 'model',
    hint: '',
    createdAt: T0,
    scopes: ['positions:write'] as const,
  },
  accountSuspended: false,
  disabledDevices: new Set<string>(),
}

/** Time runs faster here, and a busy machine must not fail the test. */
const NEVER_MS = 1e8

export type Sent =
  | {
      readonly deviceId: string
      readonly timestamp: number
      readonly latitude: number
      /** Not part of its identity, as in an app's report. */
      readonly battery: number
    }
  /** A heartbeat. */
  | { readonly seen: string; readonly battery: number }
export type Answer = Exclude<Outcome, { readonly kind: 'refused' }>

export type EraseStep = 'announced' | 'logged' | 'answered'

export type World = Awaited<ReturnType<typeof openWorld>>

/**
 * The ingest API's path from reports through a spool to the log, then projector, read models and
 * rebuild, on real files, in one process that may die at any statement.
 */
export async function openWorld(folder: string, empty: string) {
  mkdirSync(folder)
  const clock = { time: T0 + 1_000_000, now: () => clock.time }
  let deaths = 0
  let erasures = 0
  copyFiles(empty, at(0))
  let process = start(at(0))

  function at(life: number): string {
    return join(folder, String(life))
  }

  function start(directory: string): Process {
    newProcess(() => copyFiles(directory, at(deaths + 1)))
    return startProcess({ directory, clock })
  }

  async function reopenStore(): Promise<void> {
    await process.store.close()
    const opened = await attempt(async () => {
      process.store = openSqliteStore({ directory: process.directory, clock })
    })
    // A program that cannot open its store ends.
    if (!opened) killProcess()
  }

  return {
    clock,

    /** Sends batches concurrently; returns each response, or undefined for none. */
    async send(batches: readonly (readonly Sent[])[]): Promise<(Answer[] | undefined)[]> {
      const { accept } = process
      const sent = batches.map(async (reports) => {
        const given = reports.map((report) =>
          'seen' in report
            ? report
            : { json: report, translated: { report: { ...report, longitude: 0 } } },
        )
        const { outcomes } = await accept(grant, given, { deadline: performance.now() + NEVER_MS })
        return outcomes.map((outcome) => {
          if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.message}`)
          return outcome
        })
      })
      const answers = await Promise.allSettled(sent)
      return answers.map((answer) => {
        if (answer.status === 'fulfilled') return answer.value
        // Becomes a 503; anything else is a bug.
        if (answer.reason instanceof DependencyError) return undefined
        throw answer.reason
      })
    },

    /** Erases as the admin API does, up to a step; true once confirmed. */
    async erase(deviceId: string, upTo: EraseStep = 'answered'): Promise<boolean> {
      erasures += 1
      const erasedAt = clock.now()
      const random = Buffer.alloc(10)
      random.writeUInt32BE(erasures)
      const erasure = {
        accountId: ACCOUNT,
        deviceId,
        erasedAt,
        eventId: ulid(erasedAt, random),
      }
      const done = await attempt(async () => {
        await process.store.announceErasure(erasure)
        if (upTo !== 'announced') await process.log.erase(erasure)
        if (upTo === 'answered') await process.store.hideErased(erasure)
      })
      return done && upTo === 'answered'
    },

    /** Names a device as the admin API does; true once confirmed, if the device exists. */
    async name(deviceId: string, name: string): Promise<boolean> {
      const { store } = process
      const device = { accountId: ACCOUNT, deviceId }
      let named = false
      const done = await attempt(async () => {
        const lives = await store.livesOf({ accountId: ACCOUNT, deviceIds: [deviceId] })
        if ((await store.findDevice(device)) === undefined) return
        const change = { ...device, life: lives.get(deviceId), changedAt: clock.now(), name }
        named = (await store.changeDeviceSettings(change)) !== undefined
      })
      return done && named
    },

    /**
     * Projects at most `most` batches of these sizes, starting `back` entries before the
     * checkpoint; true if nothing is left.
     */
    project: (options: { sizes: readonly number[]; back: number; most: number }) =>
      attempt(() => projectSome(process, options)),

    /** Rebuilds the read models while doing something else; false if the rebuild did not finish. */
    async rebuild(meanwhile = async () => {}): Promise<boolean> {
      const { log, store } = process
      let switched = false
      const rebuilding = attempt(async () => {
        const outcome = await rebuildReadModels({
          eventLog: log,
          store,
          clock,
          metrics,
          logger,
          force: false,
          followedAfterMs: 0,
          screen: { write: () => undefined },
          signal: new AbortController().signal,
        })
        if (outcome.kind === 'different' || outcome.kind === 'log too short') {
          throw new Error(`the rebuild: ${JSON.stringify(outcome)}`)
        }
        switched = outcome.kind === 'switched'
      })
      const [done] = await Promise.all([rebuilding, meanwhile()])
      // Readers follow a switch within two seconds, even an unannounced one: these are reopened.
      if (!isDead()) await reopenStore()
      return done && switched && !isDead()
    },

    becomes(state: Line): void {
      process.line.becomes(state)
    },

    kill: killProcess,
    isDead,

    /** Reads from the process while it lives: a concurrent step may kill it at any moment. */
    async unlessItDies(look: () => Promise<void>): Promise<void> {
      if (isDead()) return
      try {
        await look()
      } catch (error) {
        if (!isDead() || !(error instanceof DependencyError)) throw error
      }
    },

    /** Restarts the process if it has died. */
    async revive(): Promise<void> {
      if (!isDead()) return
      await closeProcess(process)
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
      let device = await store.findDevice(query)
      // Readers check for a switch every 200 ms: in between, the two could use different read
      // models.
      for (;;) {
        const records = await store.pagePositions({ ...query, order: 'asc', limit: 1000 })
        const again = await store.findDevice(query)
        if (isDeepStrictEqual(again, device)) return { ...device, records }
        device = again
      }
    },

    /** Whether the log has an erasure of the device that the current read models have yet to apply. */
    async awaitsErasure(deviceId: string): Promise<boolean> {
      const applied = (await process.store.checkpoint())?.[0] ?? -1
      return (await this.logged()).some(
        ({ kind, event, origin }) =>
          kind === 'erasure' && event.deviceId === deviceId && origin.offset > applied,
      )
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

    /** `keptIn`: a folder that receives the files. */
    async close({ keptIn }: { keptIn?: string } = {}): Promise<void> {
      await closeProcess(process)
      if (keptIn !== undefined) {
        rmSync(keptIn, { recursive: true })
        copyFiles(process.directory, keptIn)
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** False if the work failed with a retriable error. */
async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof DependencyError) return false
    throw error
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
