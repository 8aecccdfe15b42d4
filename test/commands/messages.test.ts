import { expect, test } from '@jest/globals'
import { UsageError } from '../../runtime/process/command-line.ts'
import { parseOptions as deadLetters } from '../../commands/dead-letters/options.ts'
import { parseOptions as importing } from '../../commands/import/options.ts'
import { parseOptions as setPassword } from '../../commands/set-password/options.ts'
import { parseOptions as simulate } from '../../commands/simulate/options.ts'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { startProgram } from '../programs.ts'

const keys = { key: newApiKey(), readKey: undefined }

test.each([
  ['enter list or replay: see --help', () => deadLetters([])],
  ['enter list or replay: see --help', () => deadLetters(['delete'])],
  ['name the files to import; - is standard input', () => importing([], keys)],
  ['enter the operator’s e-mail: --email admin@example.com; see --help', () => setPassword([])],
  [
    '--devices must be a whole number from 1 to 100000, not "many"',
    () => simulate(['--devices', 'many'], keys),
  ],
])('a mistyped command says: %s', (message, parse) => {
  expect(parse).toThrow(UsageError)
  expect(parse).toThrow(message)
})

test.each([
  ['backup', 'Kafka and MongoDB are backed up with their own tools: docs/operations.md'],
  ['restore', 'Kafka and MongoDB are restored with their own tools: docs/operations.md'],
])('npm run %s with data in Kafka and MongoDB says: %s', async (command, message) => {
  const program = startProgram(`commands/${command}/main`, {
    args: ['folder'],
    env: { KAFKA_BROKERS: '127.0.0.1:9', MONGODB_URL: 'mongodb://127.0.0.1:9/gps' },
  })
  expect(await program.ended).toBe(1)
  expect(program.output()).toBe(`Failed: ${message}\n`)
})
