import { afterEach, beforeEach } from '@jest/globals'
import { startEmbedded, type Embedded } from './programs.ts'
import { endPrograms } from './running-programs.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Tests of `npm start`: each on data of its own, and what it starts ends with it. */
export function embeddedSuite() {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>

  beforeEach(async () => {
    directory = await temporaryDirectory()
  })

  afterEach(async () => {
    await endPrograms()
    await directory.remove()
  })

  return {
    /** The test's data directory. */
    get path(): string {
      return directory.path
    },
    start: (env: Record<string, string> = {}, path = directory.path): Promise<Embedded> =>
      startEmbedded(path, env),
  }
}
