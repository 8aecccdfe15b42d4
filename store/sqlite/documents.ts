import {
  fieldsOf,
  SIZED_AT_ONCE,
  type Document,
  type DocumentStore,
  type Revisioned,
  type Kind,
  type OpenDocuments,
  type Query,
} from '../documents.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database, Statement, Value } from '../../runtime/sqlite/database.ts'

type Row = { readonly id: string; readonly revision: number; readonly document: string }

/**
 * Creates the tables of the kinds, and missing indexes in tables of earlier versions. Indexed
 * values are virtual columns computed from the document, which take no space in the table.
 */
export function makeTables(database: Database, kinds: readonly Kind<never>[]): void {
  database.transaction(() => {
    database.exec(
      `CREATE TABLE IF NOT EXISTS document_versions (
         kind TEXT PRIMARY KEY,
         version INTEGER NOT NULL
       ) STRICT, WITHOUT ROWID`,
    )
    for (const { name: table, indexes, appendOnlyBut, brief = [] } of kinds) {
      database.exec(
        `CREATE TABLE IF NOT EXISTS ${table} (
           id TEXT PRIMARY KEY,
           revision INTEGER NOT NULL DEFAULT 1,
           document TEXT NOT NULL
         ) STRICT`,
      )
      const columns = new Set(
        database.prepare<{ name: string }>(`PRAGMA table_xinfo(${table})`).all().map(nameOf),
      )
      const indexed = Object.values(indexes).flatMap(({ fields }) => fields)
      for (const field of [...indexed, ...brief]) {
        if (columns.has(field)) continue
        columns.add(field)
        database.exec(
          `ALTER TABLE ${table} ADD COLUMN "${field}" ANY AS (document ->> '$.${field}') VIRTUAL`,
        )
      }
      for (const [name, { fields, unique }] of Object.entries(indexes)) {
        database.exec(
          `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${table}_by_${name}
           ON ${table} (${[...fields, ...(unique ? [] : ['id'])].map(quoteName).join()})`,
        )
      }
      if (appendOnlyBut !== undefined) makeAppendOnly(database, table, appendOnlyBut)
    }
  })
}

function makeAppendOnly(database: Database, table: string, field: string): void {
  const removeField = (row: string) => `json_remove(${row}.document, '$.${field}')`
  const refuse = `BEGIN SELECT RAISE(ABORT, 'the ${table} is append-only'); END`
  database.exec(
    `CREATE TRIGGER IF NOT EXISTS ${table}_refuses_DELETE BEFORE DELETE ON ${table} ${refuse};
     CREATE TRIGGER IF NOT EXISTS ${table}_refuses_all_but_${field} BEFORE UPDATE ON ${table}
     WHEN OLD.id <> NEW.id OR ${removeField('OLD')} IS NOT ${removeField('NEW')} ${refuse}`,
  )
}

/** Documents as JSON, one table per kind, in a file that has the tables. */
export function sqliteDocuments(database: Database): OpenDocuments {
  return (kind) => documentsOf(database, kind)
}

function documentsOf<D extends Document>(database: Database, kind: Kind<D>): DocumentStore<D> {
  const { name: table } = kind
  const insert = database.prepare(
    `INSERT INTO ${table} (id, document) VALUES (?, ?) ON CONFLICT DO NOTHING`,
  )
  const get = database.prepare<Row>(`SELECT id, revision, document FROM ${table} WHERE id = ?`)
  const replace = database.prepare(
    `UPDATE OR IGNORE ${table} SET document = ?, revision = revision + 1
     WHERE id = ? AND revision = ?`,
  )
  const remove = database.prepare(
    `DELETE FROM ${table} WHERE id = ?1 AND revision = ifnull(?2, revision)`,
  )
  const count = database.prepare<{ version: number }>(
    `INSERT INTO document_versions VALUES ('${table}', 1)
     ON CONFLICT DO UPDATE SET version = version + 1 RETURNING version`,
  )
  const statements = new Map<string, Statement<Row>>()

  /** Call this in the transaction that writes the document: versions become visible in their order. */
  function encodeDocument(document: Document): string {
    const version = kind.isCounted && { version: count.get()?.version }
    return JSON.stringify({ ...document, ...version })
  }

  function replaceRevision({ revision, ...document }: Revisioned<D>): boolean {
    return replace.run(encodeDocument(document), document.id, revision) === 1
  }

  function prepareCached(sql: string): Statement<Row> {
    const statement = statements.get(sql) ?? database.prepare<Row>(sql)
    statements.set(sql, statement)
    return statement
  }

  function rows(query: Query<D>): Row[] {
    const { sql, values } = search(kind, query)
    return prepareCached(sql).all(...values)
  }

  return {
    insert: async (documents) =>
      database.transaction(() =>
        documents.filter((document) => insert.run(document.id, encodeDocument(document)) === 1),
      ),

    async get(id) {
      const row = get.get(id)
      return row && splitRevision<D>(row)
    },

    async find(query) {
      if (query.mostBytes === undefined) return rows(query).map(splitRevision<D>)
      const found: Revisioned<D>[] = []
      // After the first read, `from` and `skip` are already passed.
      const { index, limit: most, where, order, isBrief } = query
      const behind: Query<D> = {
        index,
        limit: most,
        ...(where !== undefined && { where }),
        ...(order !== undefined && { order }),
        ...(isBrief !== undefined && { isBrief }),
      }
      for (let bytes = 0, next: Query<D> = query; ;) {
        const limit = Math.min(query.limit - found.length, SIZED_AT_ONCE)
        const part = rows({ ...next, limit })
        for (const row of part) {
          found.push(splitRevision<D>(row))
          bytes += row.document.length
          if (bytes >= query.mostBytes) return found
        }
        if (part.length < limit || found.length >= query.limit) return found
        const after = found.at(-1)
        next = { ...behind, ...(after !== undefined && { after }) }
        await endOfTurn()
      }
    },

    async replace(document) {
      const write = () => replaceRevision(document)
      return kind.isCounted ? database.transaction(write) : write()
    },

    replaceAll: async (documents) =>
      database.transaction(() => documents.filter(replaceRevision).length),

    async raise(field, values) {
      const raise = prepareCached(
        `UPDATE ${table} SET document = json_set(document, '$.${field}', ?2), revision = revision + 1
         WHERE id = ?1 AND ifnull(document ->> '$.${field}' < ?2, TRUE)`,
      )
      database.transaction(() => {
        for (const [id, value] of values) raise.run(id, value)
      })
    },

    remove: async ({ id, revision }) => remove.run(id, revision ?? null) === 1,

    async removeOlder({ than, ...query }) {
      const { equal, ordering } = fieldsOf(kind, query)
      const fixed = equal.map(([field]) => `${quoteName(field)} = ? AND `).join('')
      const sql = `DELETE FROM ${table} WHERE ${fixed}${quoteName(ordering[0] ?? 'id')} < ?`
      prepareCached(sql).run(...equal.map(([, value]) => value as Value), than)
    },
  }
}

/** The statement that scans an index for a query, and its values. */
function search<D extends Document>(
  kind: Kind<D>,
  query: Query<D>,
): { readonly sql: string; readonly values: readonly Value[] } {
  const { from, order = 'asc', after, skip = 0, limit } = query
  const { equal, ordering } = fieldsOf(kind, query)
  const values = equal.flatMap(([, value]) => (value === null ? [] : [value as Value]))
  const terms = equal.map(
    ([field, value]) => `${quoteName(field)} ${value === null ? 'IS NULL' : '= ?'}`,
  )
  if (from !== undefined) {
    terms.push(`${quoteName(ordering[0] ?? 'id')} >= ?`)
    values.push(from)
  }
  if (after !== undefined) {
    const place: Readonly<Record<string, unknown>> = after
    const marks = ordering.map(() => '?').join()
    terms.push(`(${ordering.map(quoteName).join()}) ${order === 'asc' ? '>' : '<'} (${marks})`)
    values.push(...ordering.map((field) => place[field] as Value))
  }
  const where = terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`
  const by = ordering.map((field) => `${quoteName(field)} ${order}`).join()
  // SQLite may choose the wrong one of two suitable indexes: the one that leaves more rows to
  // examine.
  const table = `${kind.name} INDEXED BY ${kind.name}_by_${query.index}`
  const content = query.isBrief === true ? selectBrief(kind.brief) : 'document'
  const sql = `SELECT id, revision, ${content} FROM ${table}${where} ORDER BY ${by} LIMIT ? OFFSET ?`
  return { sql, values: [...values, limit, skip] }
}

/**
 * SQLite extracts these fields from the document: the rest is neither copied nor parsed here.
 * Absent fields are omitted.
 */
function selectBrief(fields: readonly string[] = []): string {
  const values = ['id', ...fields].map((field) => `'${field}', ${quoteName(field)}`)
  return `json_patch('{}', json_object(${values.join()})) AS document`
}

function splitRevision<D>({ revision, document }: Row): Revisioned<D> {
  return { ...(JSON.parse(document) as D), revision }
}

function quoteName(field: string): string {
  return `"${field}"`
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}
