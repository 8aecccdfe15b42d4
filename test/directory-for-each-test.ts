import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from '@jest/globals'

/**
 * The path of an empty folder of the running test. The folders of all tests go after the last one: what is open in them
 * may be closed by any hook.
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
