import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from '@jest/globals'

/**
 * The path of an empty folder for the running test. All folders are removed after the last test,
 * because any hook may close files in them.
 */
export function directoryForEachTest(): () => string {
  let folders: string
  let own: string
  beforeAll(() => {
    folders = mkdtempSync(join(tmpdir(), 'gps-'))
  })
  beforeEach(() => {
    own = mkdtempSync(join(folders, 'test-'))
  })
  afterAll(() => rmSync(folders, { recursive: true }))
  return () => own
}
