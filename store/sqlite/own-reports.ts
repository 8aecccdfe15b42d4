import { Database } from '../../runtime/sqlite/database.ts'
import { INSTANCE_HOURS, INSTANCES, SPOOLS } from '../back-office/kinds.ts'
import type { Document, DocumentStore, Kind, OpenDocuments } from '../documents.ts'
import { makeTables, sqliteDocuments } from './documents.ts'

const KINDS: readonly Kind<never>[] = [INSTANCES, SPOOLS, INSTANCE_HOURS]
const SAVED_EVERY_MS = 60_000

type Row = { readonly id: string; readonly document: string }

export function isOwnReport(kind: { readonly name: string }): boolean {
  return KINDS.some(({ name }) => name === kind.name)
}

/**
 * Stores what services report about themselves every 10 s. On files they all run in this process, so the
 * reports stay in memory: commits would wear out the memory card of a small machine. Only the figures
 * of past minutes outlast the process. They are saved in `accounts` once a minute, and when
 * this closes.
 */
export function ownReports(
  accounts: Database,
  clock: { now(): number },
): { readonly open: OpenDocuments; close(): void } {
  const { name: hours } = INSTANCE_HOURS
  makeTables(accounts, [INSTANCE_HOURS])
  // Earlier versions stored them there.
  for (const { name } of [INSTANCES, SPOOLS]) accounts.exec(`DROP TABLE IF EXISTS ${name}`)
  const memory = new Database(':memory:', [''])
  makeTables(memory, KINDS)
  const insert = memory.prepare(`INSERT INTO ${hours} (id, document) VALUES (?, ?)`)
  for (const { id, document } of accounts.prepare<Row>(`SELECT * FROM ${hours}`).all()) {
    insert.run(id, document)
  }
  const find = memory.prepare<Row>(`SELECT id, document FROM ${hours} WHERE id = ?`)
  const save = accounts.prepare(
    `INSERT INTO ${hours} (id, document) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET document = excluded.document`,
  )
  const unsaved = new Set<string>()
  let savedAt = clock.now()

  function saveAll(): void {
    if (unsaved.size === 0) return
    accounts.transaction(() => {
      for (const id of unsaved) {
        const row = find.get(id)
        if (row !== undefined) save.run(row.id, row.document)
      }
    })
    unsaved.clear()
    savedAt = clock.now()
  }

  function noteChange({ id }: Document): void {
    unsaved.add(id)
    if (Math.abs(clock.now() - savedAt) >= SAVED_EVERY_MS) saveAll()
  }

  function saved<D extends Document>(kept: DocumentStore<D>, file: DocumentStore<D>) {
    return {
      ...kept,
      async insert(documents: readonly D[]) {
        const inserted = await kept.insert(documents)
        inserted.forEach(noteChange)
        return inserted
      },
      async replace(document: Parameters<typeof kept.replace>[0]) {
        const isReplaced = await kept.replace(document)
        if (isReplaced) noteChange(document)
        return isReplaced
      },
      async removeOlder(query: Parameters<typeof kept.removeOlder>[0]) {
        await kept.removeOlder(query)
        await file.removeOlder(query)
      },
    }
  }

  return {
    open(kind) {
      const kept = sqliteDocuments(memory)(kind)
      return kind.name === hours ? saved(kept, sqliteDocuments(accounts)(kind)) : kept
    },

    close() {
      try {
        saveAll()
      } catch {
        // The disk may be full: at most the last minute is lost.
      }
      memory.close()
    },
  }
}
