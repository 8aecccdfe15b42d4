import { isatty } from 'node:tty'
import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type { Logger }

/**
 * Structured logs on standard output: JSON lines, or readable lines where a person watches.
 * Headers that carry secrets are taken out even where somebody logs a whole request.
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
  // Of a worker thread's own stream nothing could be told.
  if (isatty(1)) {
    return pino(
      options,
      pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true }),
    )
  }
  // Through the stream, not past it: pino's own writer tries a line that nobody reads any more for
  // ever, and with it the process stands still.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined)
  return pino(options, process.stdout)
}
