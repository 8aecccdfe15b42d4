// Run by lock.test.ts: FILE. On each line `take` from standard input it tries to lock the file and
// prints whether it succeeded; on any other line it releases the file.
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
