import { afterEach } from '@jest/globals'
import { directoryForEachTest } from './directory-for-each-test.ts'
import { startEmbedded, type Embedded } from './programs.ts'
import { endPrograms } from './running-programs.ts'

/** Tests of `npm start`: each has separate data and stops the programs it started. */
export function embeddedSuite() {
  const directory = directoryForEachTest()

  afterEach(endPrograms)

  return {
    /** The test's data directory. */
    get path(): string {
      return directory()
    },
    start: (env: Record<string, string> = {}, path = directory()): Promise<Embedded> =>
      startEmbedded(path, env),
  }
}
