import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rows = fileURLToPath(new URL('../../.cache/faults.jsonl', import.meta.url))

/** Shortened in a run that has to end soon; the promise is the same, the fault comes less often. */
export const SHORT = process.env['FAULTS'] === 'short'

/** Puts a fault and its figures into the table that is printed when the run ends. */
export function noteFault(fault: string, figures: Readonly<Record<string, number | string>>): void {
  mkdirSync(join(rows, '..'), { recursive: true })
  appendFileSync(rows, `${JSON.stringify({ fault, figures })}\n`)
  process.stderr.write(`done: ${fault}\n`)
}
