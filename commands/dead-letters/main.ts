import { loadConfig } from '../../runtime/config/config.ts'
import { runCommand } from '../command.ts'
import { holdData, openEventLog, openStore, awaitReady } from '../open.ts'
import { listDeadLetters, replayDeadLetters } from './dead-letters.ts'
import { HELP, parseOptions, type Options } from './options.ts'

// Everything is closed, but Kafka's client may leave timers behind.
process.exit(await runCommand(process.argv.slice(2), { help: HELP, parse: parseOptions, run }))

async function run({ action }: Options): Promise<void> {
  const use = { config: loadConfig(), name: 'gps-dead-letters' }
  const task = action === 'replay' ? 'replay the dead letters' : undefined
  const held = holdData(use.config, { task })
  const eventLog = openEventLog(use)
  const store = await openStore(use)
  const write = (text: string) => void process.stdout.write(text)
  try {
    await awaitReady([eventLog, store])
    if (action === 'list') await listDeadLetters(eventLog, write)
    else await replayDeadLetters({ eventLog, store }, write)
  } finally {
    await store.close()
    await eventLog.close()
    held.release()
  }
}
