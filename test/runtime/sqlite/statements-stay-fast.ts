import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { Database } from '../../../runtime/sqlite/database.ts'

/** The steps of each statement's plan, such as "SEARCH records USING INDEX …". */
type Plans = ReadonlyMap<string, readonly string[]>

/** Temporary tables of a statement: a list among its values, and an already limited page. */
const ITS_OWN = ['json_each', 'listed', 'page']

/** A column or tuple compared with a value; not with a `+`, which rules out indexes. */
const COMPARISON =
  /(?<![+.\w"])(\w+|"[\w.]+"|\([\w", ]+\)) (<=|>=|=|<|>|BETWEEN) \(?(?=\w*\(?\?|listed|value)/g

/**
 * Explains every statement that `contract` prepares, and adds a test that none slows down as a
 * table grows, by a scan, a comparison of each row or a sort.
 * @param allowed accepted slow steps or statements, with the reason.
 */
export function statementsStayFast(
  contract: () => void,
  allowed: Readonly<Record<string, string>>,
): void {
  const plans = plansOfStatements()
  contract()

  test('no statement reads or sorts unneeded rows', () => {
    expect(plans.size).toBeGreaterThan(20)
    const slow = [...plans].flatMap(([sql, steps]) =>
      [...scans(steps), ...comparisonsOfEachRow(sql, steps), ...sorts(sql, steps)]
        .filter((slowness) => !(slowness in allowed))
        .map((slowness) => `${slowness}: ${sql.replace(/\s+/g, ' ')}`),
    )
    expect(slow.filter((statement) => !(statement in allowed))).toEqual([])
  })
}

function plansOfStatements(): Plans {
  const plans = new Map<string, readonly string[]>()
  const prepared = new WeakMap<Database, Set<string>>()
  // eslint-disable-next-line @typescript-eslint/unbound-method -- both are called on their database
  const { prepare, close } = Database.prototype

  beforeAll(() => {
    jest.spyOn(Database.prototype, 'prepare').mockImplementation(function (
      this: Database,
      sql,
      options,
    ) {
      prepared.set(this, (prepared.get(this) ?? new Set()).add(sql))
      return prepare.call(this, sql, options)
    })
    // Only now does the database have all tables that its statements name.
    jest.spyOn(Database.prototype, 'close').mockImplementation(function (this: Database) {
      for (const sql of prepared.get(this) ?? []) {
        if (plans.has(sql)) continue
        const explain = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`)
        plans.set(sql, explain.all().map(detailOf))
      }
      prepared.delete(this)
      close.call(this)
    })
  })
  afterAll(() => {
    jest.restoreAllMocks()
  })
  return plans
}

function detailOf(step: unknown): string {
  return (step as { readonly detail: string }).detail
}

/** A walk along an index, up to a limit, is not a scan. */
function scans(steps: readonly string[]): string[] {
  const tables = steps.flatMap((step) => /^SCAN (\S+)(?! USING INDEX)(?: |$)/.exec(step)?.[1] ?? [])
  return tables.filter((table) => !ITS_OWN.includes(table)).map((table) => `scans ${table}`)
}

/** A comparison that does not narrow the search of an index. */
function comparisonsOfEachRow(sql: string, steps: readonly string[]): string[] {
  const [, ...conditions] = sql.split(/\b(?:WHERE|ON)\b/)
  const plan = steps.join()
  return [...conditions.join().matchAll(COMPARISON)].flatMap(([, term = '', sign = '']) => {
    const column = term.replace(/["\s]/g, '').replace(/^\((\w+)\)$/, '$1')
    const narrowing = sign === 'BETWEEN' ? '>' : (sign[0] ?? '')
    const isNarrowed = [column, 'rowid'].some((name) => plan.includes(`${name}${narrowing}`))
    return isNarrowed ? [] : [`compares ${column}`]
  })
}

/** The devices of a list or a key are looked up first. */
function sorts(sql: string, steps: readonly string[]): string[] {
  if (/AS listed|last_key_id = \?/.test(sql)) return []
  const isSorted = steps.some((step) => step === 'USE TEMP B-TREE FOR ORDER BY')
  return isSorted ? ['sorts'] : []
}
