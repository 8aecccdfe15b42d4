// Run by lock.test.ts: FILE. At each line `take` of standard input it tries to take the file and prints
// whether it has got it; at any other line it lets go of it.
import { createInterface } from 'node:readline'
import { lock } from '../../client/lock.ts'
import { realTiming } from '../../client/timing.ts'

const [file = ''] = process.argv.slice(2)
let held: { release(): Promise<void> } | undefined
process.stdout.write('ready\n')
for await (const request of createInterface({ input: process.stdin })) {
  if (request === 'take') {
    held = await lock(file, realTiming).catch(() => undefined)
    process.stdout.write(held === undefined ? 'refused\n' : 'taken\n')
  } else {
    await held?.release()
    process.stdout.write('let go\n')
  }
}
