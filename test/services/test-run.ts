import { mkdirSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

/**
 * The process that no server outlives: jest's main process, whichever worker started the server.
 */
export function ownerPid(): number {
  return Number(process.env['TEST_SERVICES_OWNER'])
}

/** The folder shared by the workers of this run; removed at its end. */
export function runFolder(): string {
  const folder = process.env['TEST_SERVICES_FOLDER']
  if (folder === undefined) {
    throw new Error(
      'npm test starts no servers: a suite that needs one is named X.services.test.ts',
    )
  }
  return folder
}

/** A fresh folder for a server's data. */
export function dataFolder(server: string): string {
  const folder = join(runFolder(), `${server}-${randomUUID()}`)
  mkdirSync(folder)
  return folder
}

/** Records a suite that this run skips, for the line at its end. */
export function noteSkipped(suite: string, reason: string): void {
  writeFileSync(
    join(runFolder(), `${randomUUID()}.skipped.json`),
    JSON.stringify({ suite, reason }),
  )
}
