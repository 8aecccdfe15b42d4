import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openSpool, type SpoolOptions } from '../../../event-log/spool/spool.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { T0 } from '../../samples.ts'

/** The fate of appends on their way to the log behind the spool. */
export type Line =
  | 'up'
  /** Refused immediately; nothing is written. */
  | 'down'
  /** Nothing is written, and no call is answered until the fate changes. */
  | 'hung'
  /** No call is answered; events are written as soon as the fate changes. */
  | 'stalled'
  /** Written, and no call is answered. */
  | 'mute'
  /** Written, and then refused. */
  | 'responses lost'

export type SpoolHarness = ReturnType<typeof harness>

/** A spool before a real log, for each test, with a connection that can be cut. */
export function spoolForEachTest(use: (harness: SpoolHarness) => void): void {
  let opened: SpoolHarness

  beforeEach(() => {
    opened = harness()
    use(opened)
  })

  afterEach(() => opened.close())
}

function harness() {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'))
  const directory = join(folder, 'spool')
  mkdirSync(directory)
  const clock = { time: T0, now: () => clock.time }
  const log = openSqliteEventLog({ file: join(folder, 'log.sqlite'), clock })
  const logged: { readonly level: 'info' | 'warn'; readonly message: string }[] = []
  const spools: EventLog[] = []
  const waiting = new Set<() => void>()
  let line: Line = 'up'

  /** Appends go through the connection; other calls go directly to the log. */
  const behind: EventLog = {
    ...log,
    async append(events, options) {
      const met = line
      if (met === 'down') throw away()
      if (met === 'hung') {
        await new Promise<void>((resolve) => waiting.add(resolve))
        throw away()
      }
      if (met === 'stalled') await new Promise<void>((resolve) => waiting.add(resolve))
      await log.append(events, options)
      if (met === 'up') return
      if (met === 'mute' && line === met) await new Promise<void>((resolve) => waiting.add(resolve))
      throw away()
    },
    async ready() {
      if (line !== 'up') throw away()
    },
    close: async () => undefined,
  }

  return {
    folder,
    directory,
    clock,
    /** The log behind the spool. */
    log,
    logged,

    open(options: Partial<SpoolOptions> = {}) {
      const spool = openSpool({
        directory,
        eventLog: behind,
        clock,
        maxBytes: 2 ** 20,
        maxAgeSeconds: 3600,
        directWithinMs: 200,
        logger: {
          info: (_fields, message) => void logged.push({ level: 'info', message }),
          warn: (_fields, message) => void logged.push({ level: 'warn', message }),
        },
        ...options,
      })
      spools.push(spool)
      return spool
    },

    becomes(next: Line): void {
      line = next
      for (const proceed of waiting) proceed()
      waiting.clear()
    },

    /** The entries of the log, in order. */
    async entries() {
      const { next } = (await log.extent())[0]!
      const found = []
      const reading = new AbortController()
      if (next === 1) return []
      for await (const item of log.tail({ after: {}, signal: reading.signal })) {
        if (item.kind !== 'batch') continue
        for (const entry of item.entries)
          if ('event' in entry && entry.kind !== 'erasure') found.push(entry)
        if (item.lastOffset === next - 1) reading.abort()
      }
      return found
    },

    async close(): Promise<void> {
      line = 'down'
      for (const proceed of waiting) proceed()
      await Promise.all(spools.map((spool) => spool.close()))
      await log.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function away(): DependencyError {
  return new DependencyError('the log is away', { retriable: true })
}
