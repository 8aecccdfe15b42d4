import { isatty } from 'node:tty'
import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type { Logger }

/**
 * Structured logs on standard output: JSON lines, or readable lines on a terminal. Headers that
 * carry secrets are redacted, even if a whole request is logged.
 */
export function createLogger({ level, name }: { level: string; name: string }): Logger {
  const options = {
    level,
    name,
    redact: [
      '*.authorization',
      '*.cookie',
      '*.password',
      '*.headers.authorization',
      '*.headers.cookie',
    ],
  }
  // By descriptor: in a worker thread, process.stdout.isTTY is not set.
  if (isatty(1)) {
    return pino(
      options,
      pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true }),
    )
  }
  // Through process.stdout: pino's own writer retries forever once the reader of a pipe has gone,
  // and blocks the process.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined)
  return pino(options, process.stdout)
}
