import { BSON } from 'mongodb'
import { toMessage } from '../../event-log/kafka/event-format.ts'
import { UsageError } from '../../runtime/arguments.ts'
import { positionDocument } from '../../store/mongo/position-documents.ts'
import { eventOf } from '../events.ts'
import { readParts } from '../result.ts'
import { capacity } from './capacity.ts'
import { costsOf, NotMeasuredError } from './costs.ts'
import { CAPACITY_HELP, parseCapacityOptions } from './options.ts'
import { capacityTable } from './table.ts'

const FLEETS = [1e4, 1e6, 1e8]
/** Ids as long as real ones. */
const ID = '01KDVDNA00Z6JGGE5XXD5XW7P3'

process.exitCode = await print(process.argv.slice(2))

/** `npm run capacity`. Returns the exit code. */
async function print(args: readonly string[]): Promise<number> {
  try {
    const options = parseCapacityOptions(args)
    if (options === 'help') {
      process.stdout.write(CAPACITY_HELP)
      return 0
    }
    const { file, assumptions } = options
    const costs = costsOf(readParts(file), bytesOfOne())
    const capacities = FLEETS.map((devices) => capacity(devices, costs, assumptions))
    process.stdout.write(capacityTable(capacities, costs, assumptions))
    return 0
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof NotMeasuredError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}

function bytesOfOne() {
  const event = { ...eventOf(1_234_567, { devices: 10_000 }), accountId: ID, keyId: ID }
  const { key, value, headers } = toMessage(event)
  const texts = [key, value, ...Object.entries(headers ?? {}).flat()]
  const eventBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(String(text)), 0)
  const origin = { partition: 7, offset: 123_456_789 }
  const document = positionDocument({ kind: 'position', origin, event })
  return { eventBytes, documentBytes: BSON.calculateObjectSize(document) }
}
