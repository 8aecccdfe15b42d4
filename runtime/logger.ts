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
  return process.stdout.isTTY
    ? pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }))
    : pino(options)
}
