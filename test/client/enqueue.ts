// Run by offline-queue.long.test.ts: FILE URL KEY FROM. Adds numbered reports as fast as the disk
// takes them and prints each number once it is on disk; without FROM it only sends queued reports,
// then ends.
import { openQueue } from '../../client/queue.ts'
import { numbered } from './numbered.ts'

const [file = '', url = '', key = '', from] = process.argv.slice(2)
const queue = await openQueue({
  file,
  url,
  key,
  onRefused: (report, refusal) => {
    process.stdout.write(`refused ${report.timestamp} ${refusal.message}\n`)
  },
})
if (from === undefined) {
  await queue.drained()
  await queue.close()
} else {
  for (let n = Number(from); ; n += 1) {
    await queue.add(numbered(n))
    process.stdout.write(`${n}\n`)
  }
}
