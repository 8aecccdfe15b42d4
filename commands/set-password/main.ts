import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { runCommand } from '../command.ts'
import { holdData, openStore, awaitReady } from '../open.ts'
import { newPassword, setPassword } from './set-password.ts'
import { HELP, parseOptions, type Options } from './options.ts'

process.exitCode = await runCommand(process.argv.slice(2), {
  help: HELP,
  parse: parseOptions,
  run,
})

async function run({ email }: Options): Promise<void> {
  const { password, isGenerated } = await newPassword(process.stdin)
  const use = { config: loadConfig(), name: 'gps-set-password' }
  const held = holdData(use.config, { task: 'set the password' })
  const store = await openStore(use)
  try {
    await awaitReady([store])
    await setPassword({ store, clock }, { email, password })
  } finally {
    await store.close()
    held.release()
  }
  process.stderr.write(`The password of ${email} is changed, and all its sessions have ended.\n`)
  if (isGenerated) process.stdout.write(`${password}\n`)
}
