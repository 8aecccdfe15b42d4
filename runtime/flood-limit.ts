import type { LogFn, Logger } from 'pino'
import { DependencyError } from './errors.ts'
import { kindOf } from './outage.ts'

const WARN = 40
const FATAL = 60
const WINDOW_MS = 60_000
/** Enough to see a pattern in what differs between the lines of one kind. */
const LINES_PER_WINDOW = 60
/** Forgotten kinds only begin to count again. */
const MOST_KINDS = 1_000

type Window = { readonly begun: number; lines: number; suppressed: number }

/**
 * A hook of pino that keeps warnings and errors from flooding the log. Failures that an outage reports are
 * left to it. Others that will be tried again are logged once a minute of each kind, everything else 60
 * times; the next line says how many were `suppressed`.
 */
export function floodLimit({ now = () => performance.now() }: { now?: () => number } = {}) {
  const windows = new Map<string, Window>()

  function admit(kind: string, most: number): { suppressed?: number } | undefined {
    const time = now()
    const window = windows.get(kind)
    if (window !== undefined && time - window.begun < WINDOW_MS) {
      window.lines += 1
      if (window.lines <= most) return {}
      window.suppressed += 1
      return undefined
    }
    if (windows.size >= MOST_KINDS) windows.clear()
    windows.set(kind, { begun: time, lines: 1, suppressed: 0 })
    const suppressed = window?.suppressed ?? 0
    return suppressed === 0 ? {} : { suppressed }
  }

  return function limit(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [fields, message] = args as [unknown, unknown]
    const isLimited = level >= WARN && level < FATAL
    if (!isLimited || typeof fields !== 'object' || fields === null) {
      return method.apply(this, args)
    }
    const { err } = fields as { err?: unknown }
    const kind = kindOf(fields, String(message))
    const failure = err instanceof DependencyError && err.retriable ? err : undefined
    if (failure?.outage !== undefined) {
      this.debug(...args)
      return failure.outage.trouble(kind, () => method.apply(this, args))
    }
    const admitted = admit(kind, failure === undefined ? LINES_PER_WINDOW : 1)
    if (admitted === undefined) return
    method.call(this, { ...fields, ...admitted }, String(message))
  }
}
