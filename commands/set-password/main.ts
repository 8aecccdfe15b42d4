import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock as clock } from '../../runtime/clock.ts'
import { runCommand } from '../command.ts'
import type { Config } from '../../runtime/config/config.ts'
import { createLogger } from '../../runtime/logger.ts'
import { holdStopped } from '../../runtime/sqlite/hold-directory.ts'
import { whenReady } from '../when-ready.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { newPassword } from './new-password.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { setPassword } from './set-password.ts'

const READY_WITHIN_MS = 30_000

process.exitCode = await runCommand(process.argv.slice(2), {
  help: HELP,
  parse: parseOptions,
  run,
})

async function run({ email }: Options, config: Config): Promise<void> {
  const { password, isGenerated } = await newPassword(process.stdin)
  const { store, close } = await open(config)
  try {
    const signal = AbortSignal.timeout(READY_WITHIN_MS)
    await whenReady([store], { withinMs: READY_WITHIN_MS, signal })
    if (!(await setPassword({ store, clock }, { email, password }))) {
      throw new Error(`no operator signs in with the e-mail ${email}; nothing has changed`)
    }
  } finally {
    await close()
  }
  process.stderr.write(`The password of ${email} is changed, and all its sessions have ended.\n`)
  if (isGenerated) process.stdout.write(`${password}\n`)
}

type Opened = { readonly store: Store; readonly close: () => Promise<void> }

async function open({ logLevel, distributed, dataDir }: Config): Promise<Opened> {
  if (distributed === undefined) return openEmbedded(resolve(dataDir))
  const logger = createLogger({ level: logLevel, name: 'gps-set-password' })
  const store = await openMongoStore({ url: distributed.mongodbUrl, clock, logger })
  return { store, close: () => store.close() }
}

function openEmbedded(directory: string): Opened {
  if (!existsSync(join(directory, 'accounts.sqlite'))) {
    throw new Error(`there are no accounts in ${directory}: set DATA_DIR to where they are`)
  }
  const held = holdStopped(directory, { task: 'set the password' })
  const store = openSqliteStore({ directory })
  const close = async () => {
    await store.close()
    held.release()
  }
  return { store, close }
}
