import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rows = fileURLToPath(new URL('../../.cache/faults.jsonl', import.meta.url))

/** Shorter in quick runs: the promise is the same, with fewer faults. */
export const SHORT = process.env['FAULTS'] === 'short'

/** Adds a fault and its figures to the table printed at the end of the run. */
export function noteFault(fault: string, figures: Readonly<Record<string, number | string>>): void {
  mkdirSync(join(rows, '..'), { recursive: true })
  appendFileSync(rows, `${JSON.stringify({ fault, figures })}\n`)
  process.stderr.write(`done: ${fault}\n`)
}
