import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openWorld } from './world.ts'

const memory = '/dev/shm'
/**
 * A run leaves about 40 files open until its statements are garbage-collected, and some systems
 * allow 1024 per process.
 */
const COLLECTED_EVERY = 20

/** The folders of all runs of this test. */
export function openWorlds() {
  const base = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'gps-model-'))
  let opened = 0
  let empty: string | undefined
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  return {
    /** A store and log without any reports. */
    async open() {
      opened += 1
      if (opened % COLLECTED_EVERY === 0) collect()
      empty ??= await emptyFiles(join(base, 'empty'))
      return openWorld(join(base, String(opened)), empty)
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** Creating the files takes longer than copying them. */
async function emptyFiles(directory: string): Promise<string> {
  mkdirSync(join(directory, 'spool'), { recursive: true })
  const world = await openWorld(`${directory}-made`, directory)
  await world.close({ keptIn: directory })
  return directory
}
