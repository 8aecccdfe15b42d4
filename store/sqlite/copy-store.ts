import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SECRETS_FILE } from '../../runtime/process/sealed-secrets.ts'
import { Database } from '../../runtime/sqlite/database.ts'
import { ACCOUNTS_SCHEMA } from './accounts-schema.ts'
import { FACTS_FILE } from './facts.ts'
import { sqliteGenerations } from './generations.ts'
import { readModelsFile } from './read-models.ts'
import { ACCOUNTS_FILE, REJECTIONS_FILE } from './sqlite-store.ts'

const ATTEMPTS = 3

/**
 * Copies the files of a store in use, with `copy`, one after the other, and returns their names.
 * The read models come first: erasures they lack are applied again, also to the accounts. A log
 * copied after all of them has every event that they have, and every event from which a fact was
 * decided.
 */
export async function copySqliteStore(
  { from, to }: { readonly from: string; readonly to: string },
  copy: (name: string) => Promise<void>,
): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const inUse = readGeneration(from)
    const copied = [readModelsFile(inUse), ACCOUNTS_FILE]
    try {
      for (const name of copied) await copy(name)
      if (readGeneration(to) === inUse) {
        // A store of an earlier version has no facts.
        const hasFacts = existsSync(join(from, FACTS_FILE))
        const hasKey = existsSync(join(from, SECRETS_FILE))
        const others = [
          ...(hasFacts ? [FACTS_FILE] : []),
          ...(hasKey ? [SECRETS_FILE] : []),
          REJECTIONS_FILE,
        ]
        for (const name of others) await copy(name)
        return [...copied, ...others]
      }
    } catch (error) {
      // A completed rebuild removes the previous read models.
      if (readGeneration(from) === inUse || attempt === ATTEMPTS) throw error
    }
    for (const name of copied) rmSync(join(to, name), { force: true })
  }
}

function readGeneration(directory: string): number {
  const accounts = new Database(join(directory, ACCOUNTS_FILE), ACCOUNTS_SCHEMA, { readOnly: true })
  try {
    return sqliteGenerations(accounts, directory).inUse()
  } finally {
    accounts.close()
  }
}
