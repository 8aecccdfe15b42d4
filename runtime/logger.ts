import { isatty } from 'node:tty'
import { pino, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { floodLimit } from './flood-limit.ts'

export type { Logger }

/**
 * Structured logs on standard output: JSON lines, or readable lines on a terminal, with the `reason`
 * after the message. Headers that carry secrets are redacted, even if a whole request is logged.
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
  // Through process.stdout: pino's own writer retries forever once the reader of a pipe has gone,
  // and blocks the process.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined)
  // By descriptor: in a worker thread, process.stdout.isTTY is not set.
  if (!isatty(1)) return pino(options, process.stdout)
  // Each line is written in the call that logs it: the last ones of a process say why it ends.
  const readable = prettyFactory({
    ignore: 'pid,hostname,reason',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    messageFormat: '{msg}{if reason}: {reason}{end}',
  })
  return pino(options, { write: (line: string) => void process.stdout.write(readable(line)) })
}
