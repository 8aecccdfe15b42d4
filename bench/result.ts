import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { stolenShare } from './cpu-time.ts'
import { figures, type Figure } from './figures.ts'
import type { Measured, Parts } from './measured.ts'

/** The result as it is kept in a file: parts that are measured later replace those of before. */
export type Result = { readonly parts: Parts; readonly figures: readonly Figure[] }

export function measured<Part extends { readonly faults: readonly string[] }>(
  part: Part,
  rounds: number,
): Measured<Part> {
  return { at: new Date().toISOString(), machine: machine(), rounds, ...part }
}

/** The parts of before, with what has been measured now in the place of what it repeats. */
export function withMeasured(before: Parts, { submit, projector, ...others }: Parts): Parts {
  return {
    ...before,
    ...others,
    ...(submit !== undefined && {
      submit: { ...submit, rows: merged(before.submit?.rows, submit.rows, (row) => row.candidate) },
    }),
    ...(projector !== undefined && {
      projector: {
        ...projector,
        rows: merged(before.projector?.rows, projector.rows, (row) => row.store),
      },
    }),
  }
}

function merged<Row>(before: readonly Row[] = [], now: readonly Row[], of: (row: Row) => string) {
  const measured = new Set(now.map(of))
  return [...before.filter((row) => !measured.has(of(row))), ...now]
}

export function resultOf(parts: Parts): Result {
  return { parts, figures: figures(parts) }
}

/** The parts in a file, none if there is no file yet. */
export function readParts(file: string): Parts {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Result).parts
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
}

export function writeResult(file: string, result: Result): void {
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`)
}

/** As long as this runs. */
const stolenHere = stolenShare()

function machine(): string {
  const [{ model } = { model: 'unknown processor' }, ...others] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  // Beyond the number of cores, others had a share of them: then only ratios say something.
  const load = Math.round(loadavg()[1] ?? 0)
  const stolen = Math.round(100 * stolenHere())
  return (
    `${others.length + 1} × ${model.trim()}, ${gigabytes} GB, Node ${process.version}, load ${load}` +
    (stolen > 0 ? `, ${stolen} % stolen` : '')
  )
}
