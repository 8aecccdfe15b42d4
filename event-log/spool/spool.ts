import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backOff } from '../../runtime/process/repeat.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { holdDirectory } from '../../runtime/sqlite/data-directory.ts'
import type { SpoolDepth } from '../../schemas/instance-report.ts'
import type { EventLog } from '../event-log.ts'
import { directAppends, type Append } from './direct-appends.ts'
import { openSpoolFile, type SpoolFile, type SpoolLimits } from './spool-file.ts'

/** Well within the time that a sender waits, so that its report can still be spooled. */
const DIRECT_WITHIN_MS = 2000
/** Beyond this fill level the process is not ready, so that reports go to other instances. */
const READY_BELOW = 0.9

export type SpoolOptions = SpoolLimits & {
  /** An existing folder, used by this process alone. */
  readonly directory: string
  readonly eventLog: EventLog
  readonly clock: { now(): number }
  readonly logger: Logger
  /** How long an append may take before it is spooled too. */
  readonly directWithinMs?: number
}

export type Spool = {
  /** The number, bytes and age of the waiting events. */
  depth(): SpoolDepth & { readonly id: string }
}

type Logger = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * An event log that keeps positions on this machine's disk while the log behind it is unavailable.
 * Then `append` resolves once they are on disk, and all later ones queue behind them; when the log
 * is back, they are appended to it in order. Events that the log did not confirm in time may be in
 * it already or be written later, and then appear twice: so all events are marked as spooled.
 * Everything else, including rejections, goes directly to that log. Closing the spool closes that
 * log.
 * @throws {Error} when another process uses the folder.
 */
export function openSpool({
  directory,
  eventLog,
  logger,
  directWithinMs = DIRECT_WITHIN_MS,
  ...options
}: SpoolOptions): EventLog & Spool {
  const hold = holdDirectory(directory, { variable: 'SPOOL_DIR' })
  const file = openHeld(hold, () => openSpoolFile(join(directory, 'spool.sqlite'), options))
  const id = readSpoolId(directory)
  const direct = directAppends({ eventLog, withinMs: directWithinMs, onAway: beginSpooling })
  const closing = new AbortController()
  const pending = new Set<Promise<void>>()
  /** Appends that wait until the last spooled events are in the log. */
  let held: { readonly appends: Append[]; readonly timer: NodeJS.Timeout } | undefined
  let spooling = !file.isEmpty()
  let draining = spooling ? drain() : Promise.resolve()
  let closed: Promise<void> | undefined

  return {
    ...eventLog,

    append(events) {
      if (closing.signal.aborted)
        return Promise.reject(unavailableError('the event log is closing'))
      if (events.length === 0) return Promise.resolve()
      const written = new Promise<void>((resolve, reject) => {
        const append = { events, resolve, reject }
        if (held === undefined) begin(append)
        else held.appends.push(append)
      }).finally(() => pending.delete(written))
      pending.add(written)
      return written
    },

    async ready() {
      if (closing.signal.aborted) throw unavailableError('the event log is closing')
      if (file.fill() > READY_BELOW) throw unavailableError('the spool is nearly full')
      if (spooling) return file.probe()
      await eventLog.ready().catch(() => file.probe())
    },

    depth: () => ({ id, ...file.depth() }),

    close() {
      closed ??= (async () => {
        closing.abort()
        release()
        await Promise.allSettled(pending)
        await Promise.all([draining, eventLog.close()])
        await file.close()
        hold.release()
      })()
      return closed
    },
  }

  function begin(append: Append): void {
    if (spooling) spool(append)
    else direct.send(append)
  }

  function spool({ events, resolve, reject }: Append): void {
    file.write(events).then(resolve, reject)
  }

  function beginSpooling(error: unknown, unconfirmed: readonly Append[]): void {
    spooling = true
    logger.warn({ err: error }, 'event log unavailable: reports go to the spool')
    unconfirmed.forEach(spool)
    draining = drain()
  }

  /** Appends the spooled events to the log, until none are left or the spool is closed. */
  async function drain(): Promise<void> {
    const pauses = backOff({ firstMs: 200, longestMs: 2000 })
    let isBack = false
    while (!closing.signal.aborted) {
      try {
        const waiting = file.next()
        if (waiting !== undefined) {
          if (isBack && waiting.isRest) holdAppends()
          await eventLog.append(waiting.events, { spooled: true })
          file.remove(waiting.upTo)
        } else if (!file.isEmpty()) {
          // Events are being written.
          await endOfTurn()
          continue
        }
        isBack = true
        pauses.reset()
        if (file.isEmpty()) return endSpooling()
      } catch (error) {
        isBack = false
        logger.warn({ err: error }, 'could not drain the spool; retrying')
        release()
        await pauses.pause(closing.signal)
      }
    }
  }

  /**
   * New appends would keep the spool from ever becoming empty. So they wait until the rest is
   * drained, but no longer than an append to the log may take.
   */
  function holdAppends(): void {
    held ??= { appends: [], timer: setTimeout(release, directWithinMs) }
  }

  function release(): void {
    if (held === undefined) return
    const { appends, timer } = held
    clearTimeout(timer)
    held = undefined
    appends.forEach(begin)
  }

  function endSpooling(): void {
    spooling = false
    logger.info({}, 'spool drained: reports go to the event log again')
    release()
  }
}

function openHeld(hold: { release(): void }, open: () => SpoolFile): SpoolFile {
  try {
    return open()
  } catch (error) {
    hold.release()
    throw error
  }
}

function unavailableError(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}

/** The id of the spool in this folder, created on first use. */
function readSpoolId(directory: string): string {
  const file = join(directory, 'spool-id')
  if (!existsSync(file)) writeFileSync(file, randomUUID())
  return readFileSync(file, 'utf8')
}
