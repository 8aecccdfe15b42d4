// Run by lock.test.ts: FILE. For each line of standard input it tries to take the file, prints whether it
// has got it, and lets go of it at the next line.
import { createInterface } from 'node:readline'
import { lock } from '../../client/lock.ts'
import { realTiming } from '../../client/timing.ts'

const [file = ''] = process.argv.slice(2)
let isTaking = false
let held: { release(): Promise<void> } | undefined
process.stdout.write('ready\n')
for await (const _ of createInterface({ input: process.stdin })) {
  isTaking = !isTaking
  if (isTaking) {
    held = await lock(file, realTiming).catch(() => undefined)
    process.stdout.write(held === undefined ? 'refused\n' : 'taken\n')
  } else {
    await held?.release()
    process.stdout.write('let go\n')
  }
}
