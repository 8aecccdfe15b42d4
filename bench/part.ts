import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { cpus, loadavg, totalmem } from 'node:os'
import { measureStolenShare } from './cpu-time.ts'

/** A row of a table, columns by name. Its texts identify the row, its numbers are measured. */
export type Row = Readonly<Record<string, string | number>>

/** One table of the bench. */
export type Part = {
  readonly title: string
  readonly rows: readonly Row[]
  /** Why its figures are void; empty if they are valid. */
  readonly faults: readonly string[]
  /** Absent: as many as requested. */
  readonly rounds?: number
}

export type MeasuredPart = Part & {
  readonly at: string
  readonly machine: string
  readonly rounds: number
}

/** All measured parts, in the order of the tables; each title once. */
export type Result = readonly MeasuredPart[]

/** Counts from the start of this process. */
const stolenHere = measureStolenShare()

export function measurePart(part: Part, rounds: number): MeasuredPart {
  return { at: new Date().toISOString(), machine: machine(), rounds, ...part }
}

/** The earlier result, with the rows that were measured again replaced. */
export function replaceMeasured(earlier: Result, now: readonly MeasuredPart[]): Result {
  const titles = new Set([...earlier, ...now].map(({ title }) => title))
  return [...titles].flatMap((title) => {
    const [before, after] = [earlier, now].map((one) => one.find((part) => part.title === title))
    if (before === undefined || after === undefined) return before ?? after ?? []
    const again = new Set(after.rows.map(textsOf))
    const kept = before.rows.filter((row) => !again.has(textsOf(row)))
    return [{ ...after, rows: [...kept, ...after.rows] }]
  })
}

/** The value in a column of the row with these texts. */
export function valueIn(
  result: Result,
  { title, row, column }: { title: string; row: readonly string[]; column: string },
): number | undefined {
  const part = result.find((one) => one.title === title)
  const found = part?.rows.find((one) => textsOf(one) === row.join())
  const value = found?.[column]
  return typeof value === 'number' ? value : undefined
}

function textsOf(row: Row): string {
  return Object.values(row)
    .filter((value) => typeof value === 'string')
    .join()
}

/** The result in a file; empty if the file does not exist yet. */
export function readResult(file: string): Result {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Result
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

export function writeResult(file: string, result: Result): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`)
}

function machine(): string {
  const [{ model } = { model: 'unknown processor' }, ...others] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  // Above the number of cores, other programs used part of them: then only ratios are meaningful.
  const load = Math.round(loadavg()[1] ?? 0)
  const stolen = Math.round(100 * stolenHere())
  return (
    `${others.length + 1} × ${model.trim()}, ${gigabytes} GB, Node ${process.version}, load ${load}` +
    (stolen > 0 ? `, ${stolen} % stolen` : '')
  )
}
