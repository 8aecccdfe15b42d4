import type { EventLog } from '../../event-log/event-log.ts'
import { endOf, hasReached } from '../../event-log/offsets.ts'
import type { Store } from '../../store/store.ts'
import { adminReader } from '../../test/admin-reader.ts'
import { createKey, operatorEnv } from '../../test/deployments.ts'
import { eventually } from '../../test/eventually.ts'
import { startEmbedded } from '../../test/programs.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { UNHINDERED, type Candidate } from './candidate.ts'

/**
 * The files of an embedded service, read from outside: querying the process itself would cost it
 * time.
 */
export type EmbeddedFiles = {
  readonly eventLog: Pick<EventLog, 'extent' | 'close'>
  readonly store: Pick<Store, 'checkpoint' | 'close'>
}

/**
 * The service as started by `npm start`, on a separate folder. `bench against` also calls it for
 * other versions.
 */
export async function startEmbeddedCandidate(
  openFiles: (directory: string) => EmbeddedFiles,
  env: Readonly<Record<string, string>> = {},
): Promise<Required<Candidate> & { readonly adminUrl: string }> {
  const directory = await temporaryDirectory()
  const program = await startEmbedded(directory.path, { ...operatorEnv(), ...UNHINDERED, ...env })
  const { adminUrl, ingestUrl: url } = program
  const key = await createKey(adminUrl)
  const { eventLog, store } = openFiles(directory.path)
  const caughtUp = async () =>
    hasReached((await store.checkpoint()) ?? {}, endOf(await eventLog.extent()))
  return {
    name: 'embedded',
    url,
    adminUrl,
    key,
    pid: program.process.pid ?? 0,
    settled: async () => {
      await eventually(caughtUp, { withinMs: 120_000, everyMs: 5 })
    },
    async stored() {
      const devices = await adminReader({ adminUrl, key }).devices()
      return devices.reduce((sum, { reportCount }) => sum + reportCount, 0)
    },
    async stop() {
      program.process.kill('SIGTERM')
      await program.ended
      await Promise.all([eventLog.close(), store.close()])
      await directory.remove()
    },
  }
}
