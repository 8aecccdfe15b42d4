import { existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const rows = fileURLToPath(new URL('../../.cache/faults.jsonl', import.meta.url))

/** Prints what the fault suites measured, as one table at the end of the run. */
export default class TableReporter {
  onRunStart() {
    rmSync(rows, { force: true })
  }

  onRunComplete() {
    if (!existsSync(rows)) return
    const noted = readFileSync(rows, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const width = Math.max(...noted.map(({ fault }) => fault.length))
    process.stdout.write('\n')
    for (const { fault, figures } of noted) {
      const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`)
      process.stdout.write(`${fault.padEnd(width)}  ${text.join(', ')}\n`)
    }
  }
}
