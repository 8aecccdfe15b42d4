import { isatty } from 'node:tty'
import { pino, type Logger, type LogFn } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { DependencyError } from '../errors.ts'
import { kindOf, RepeatedLines } from './repeated-lines.ts'

export type { Logger }

/**
 * Structured logs on standard output: JSON lines, or readable lines on a terminal, with the
 * `reason` after the message. Headers that carry secrets are redacted, even if a whole request is
 * logged.
 */
export function createLogger({ level, name }: { level: string; name: string }): Logger {
  const options = {
    level,
    name,
    hooks: { logMethod: floodLimit() },
    redact: [
      '*.authorization',
      '*.cookie',
      '*.password',
      '*.headers.authorization',
      '*.headers.cookie',
    ],
  }
  // Through process.stdout: pino's writer retries forever once a pipe's reader has closed it, and
  // blocks the process.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined)
  // Checks the descriptor, because process.stdout.isTTY is not set in a worker thread.
  if (!isatty(1)) return pino(options, process.stdout)
  // Each line is written by the call that logs it: the last lines of a process say why it ends.
  const readable = prettyFactory({
    ignore: 'pid,hostname,reason',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    messageFormat: '{msg}{if reason}: {reason}{end}',
  })
  return pino(options, { write: (line: string) => void process.stdout.write(readable(line)) })
}

const WARN = 40
const FATAL = 60
/** Enough to see a pattern in the differences between lines of one kind. */
const LINES_A_MINUTE = 60

/**
 * A hook of pino that keeps warnings and errors from flooding the log. Failures covered by an
 * outage are not logged. Other failures that will be retried are logged once a minute per kind,
 * everything else 60 times; the next line says how many were `suppressed`.
 */
export function floodLimit(clock: { now?: () => number } = {}) {
  const repeated = new RepeatedLines(clock)

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
    const admitted = repeated.admit(kind, failure === undefined ? LINES_A_MINUTE : 1)
    if (admitted === undefined) return
    method.call(this, { ...fields, ...admitted }, String(message))
  }
}
