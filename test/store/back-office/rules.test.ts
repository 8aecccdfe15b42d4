import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openBackOffice, BACK_OFFICE } from '../../../store/back-office/open-back-office.ts'
import type { Operator } from '../../../store/operators.ts'
import type { DocumentStore, OpenDocuments } from '../../../store/documents.ts'
import { Database } from '../../../runtime/sqlite/database.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { account, apiKey, operator } from '../../contracts/store-samples.ts'
import { held } from './held.ts'

type BackOffice = ReturnType<typeof openBackOffice>

describe('rules across documents', () => {
  let database: Database
  let open: OpenDocuments

  beforeEach(() => {
    database = new Database(':memory:', [])
    makeTables(database, BACK_OFFICE)
    open = sqliteDocuments(database)
  })

  afterEach(() => database.close())

  describe('hold at whatever point a process dies', () => {
    test('the first operator is completed by the next process', async () => {
      const own = account({ id: 'default' })
      const first = { account: own, operator: operator({ accountId: own.id }) }
      const store = process()
      for (let calls = 0; ; calls += 1) {
        database.exec('DELETE FROM operators; DELETE FROM accounts; DELETE FROM service')
        const died = await diesAfter(calls, (dying) => dying.createFirstOperator(first))
        const later = { ...operator({ accountId: own.id }), email: 'later@example.org' }
        await store.createFirstOperator({ account: own, operator: later })
        await store.createFirstOperator({ account: own, operator: later })
        const all = await store.pageOperators({ accountId: own.id, limit: 9 })
        expect(all).toEqual([expect.objectContaining({ role: 'admin', platform: true })])
        expect(await store.findAccount(own.id)).toEqual(own)
        if (!died) break
        expect(calls).toBeLessThan(50)
      }
    })

    test('a first operator demoted to viewer stays one', async () => {
      const own = account({ id: 'default' })
      const first = operator({ accountId: own.id })
      const store = process()
      await store.createFirstOperator({ account: own, operator: first })
      const next = { ...operator({ accountId: own.id }), email: 'next@example.org' }
      await store.createOperator(next)
      await store.changeOperator({ accountId: own.id, operatorId: first.id, role: 'viewer' })
      await store.createFirstOperator({ account: own, operator: first })
      const found = await store.findOperator({ accountId: own.id, operatorId: first.id })
      expect(found?.role).toBe('viewer')
    })

    test('a new account has its admin, or the e-mail is free for another attempt', async () => {
      const store = process()
      for (let calls = 0; ; calls += 1) {
        const own = account()
        const email = `${own.id}@example.org`
        const admin = operator({ accountId: own.id, email, platform: false })
        const died = await diesAfter(calls, (dying) => dying.createAccount(own, admin))
        const made = await store.findOperatorByEmail(email)
        if (made === undefined) {
          const next = account()
          const again = operator({ accountId: next.id, email, platform: false })
          expect(await store.createAccount(next, again)).toBe(true)
          expect(await adminsOf(store, next.id)).toEqual([again.id])
        } else expect(await adminsOf(store, own.id)).toEqual([admin.id])
        if (!died) break
        expect(calls).toBeLessThan(50)
      }
    })

    test.each(['delete', 'demote'] as const)(
      'an account keeps an admin despite an interrupted %s',
      async (kind) => {
        for (let calls = 0; ; calls += 1) {
          const { store, accountId, admins } = await accountWith(2)
          const [one, other] = admins as [Operator, Operator]
          const died = await diesAfter(calls, (dying) => leave(dying, one, kind))
          expect(await adminsOf(store, accountId)).toContain(other.id)
          // A half-done change can be repeated, and the rule still holds for the other operator.
          await leave(store, one, kind)
          expect(await adminsOf(store, accountId)).toEqual([other.id])
          expect(await leave(store, other, kind)).toBe('last admin')
          if (!died) break
          expect(calls).toBeLessThan(50)
        }
      },
    )
  })

  test('an account always has an existing admin under concurrent additions, removals, promotions and demotions', async () => {
    let refused = 0
    for (let seed = 1; seed <= 50; seed += 1) {
      const { store, accountId, admins } = await accountWith(3)
      const random = randomFrom(seed)
      const processes = [1, 2, 3].map(() => process({ slow: random }))
      const work = Array.from({ length: 6 }, async (_, n) => {
        const busy = processes[n % processes.length] ?? store
        const one = admins[Math.floor(random() * admins.length)]
        if (one === undefined) return undefined
        const turn = random()
        if (turn < 0.35) return leave(busy, one, 'delete')
        if (turn < 0.7) return leave(busy, one, 'demote')
        return busy.changeOperator({ accountId, operatorId: one.id, role: 'admin' })
      })
      const outcomes = await Promise.all(work)
      refused += outcomes.filter((outcome) => outcome === 'last admin').length
      expect({ seed, admins: (await adminsOf(store, accountId)).length }).not.toEqual({
        seed,
        admins: 0,
      })
    }
    expect(refused).toBeGreaterThan(0)
  })

  test('an operator being removed stays if a demotion relied on it', async () => {
    const { store, accountId, admins } = await accountWith(1)
    const [ana] = admins as [Operator]
    const bo = operator({ accountId, platform: false, role: 'viewer', email: 'bo@example.org' })
    await store.createOperator(bo)
    const removing = held('operators.remove')
    const removal = process(removing).deleteOperator({ accountId, operatorId: bo.id })
    await removing.reached
    await store.changeOperator({ accountId, operatorId: bo.id, role: 'admin' })
    expect(await leave(store, ana, 'demote')).toMatchObject({ role: 'viewer' })
    await removing.release()
    expect(await removal).toBe('last admin')
    expect(await adminsOf(store, accountId)).toEqual([bo.id])
  })

  test('a removed operator listed as an admin does not count as one', async () => {
    const { store, accountId, admins } = await accountWith(1)
    const [ana] = admins as [Operator]
    const bo = operator({ accountId, platform: false, role: 'viewer', email: 'bo@example.org' })
    await store.createOperator(bo)
    const rising = held('accounts.replace')
    const rise = process(rising).changeOperator({ accountId, operatorId: bo.id, role: 'admin' })
    await rising.reached
    expect(await leave(store, bo, 'delete')).toBe('deleted')
    await rising.release('operators.get')
    expect(await leave(store, ana, 'demote')).toBe('last admin')
    expect(await leave(store, ana, 'delete')).toBe('last admin')
    await rising.release()
    await rise
    expect(database.prepare<{ document: string }>('SELECT document FROM accounts').all()).toEqual([
      expect.objectContaining({ document: expect.stringContaining(`"admins":["${ana.id}"]`) }),
    ])
  })

  test('a change that keeps losing to concurrent ones fails as retriable', async () => {
    const { store, accountId, admins } = await accountWith(2)
    const [ana, bo] = admins as [Operator, Operator]
    const suspension = { accountId, suspended: false }
    let attempts = 0
    const late = process({
      async before(call) {
        if (call !== 'accounts.replace') return
        attempts += 1
        await store.suspendAccount(suspension)
      },
    })
    await expect(leave(late, bo, 'demote')).rejects.toMatchObject({
      name: 'DependencyError',
      retriable: true,
    })
    expect(attempts).toBe(20)
    expect(new Set(await adminsOf(store, accountId))).toEqual(new Set([ana.id, bo.id]))
    expect(await leave(store, bo, 'demote')).toMatchObject({ role: 'viewer' })
    expect(await leave(store, ana, 'delete')).toBe('last admin')
  })

  test('audit entries of one action are found without reading all the others', async () => {
    const store = process()
    const done = (n: number, action: string) => ({
      id: `${10_000 + n}`,
      accountId: 'acc-1',
      at: n,
      action,
      requestId: 'r',
      address: 'a',
      actor: { kind: 'operator', id: 'op-1', name: 'ana' } as const,
      subject: { kind: 'key', id: `key-${n}` } as const,
    })
    const rare = done(0, 'rare')
    await store.appendAudit(rare)
    for (let n = 1; n <= 1_500; n += 1) await store.appendAudit(done(n, 'usual'))
    const calls: string[] = []
    const counted = process({
      before: async (call) => {
        calls.push(call)
      },
    })
    const query = { accountId: 'acc-1', action: 'rare', limit: 5 }
    expect(await counted.pageAudit(query)).toEqual({ entries: [rare] })
    expect(calls).toEqual(['audit.find'])
  })

  test('a valid key is found whenever a rotation falls between the look-ups', async () => {
    const store = process()
    const own = account()
    await store.createAccount(own)
    const key = apiKey({ accountId: own.id })
    const [hash, secretHash] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    await store.createKey(key, hash)
    const looking = held('keys.find')
    const found = process(looking).findGrant(hash)
    await looking.reached
    await new Promise(setImmediate)
    const rotation = { accountId: own.id, keyId: key.id, hint: 'gps_2', previousValidUntil: 9 }
    await store.rotateKey({ ...rotation, secretHash })
    await looking.release()
    expect(await found).toMatchObject({ key: { id: key.id }, secretValidUntil: 9 })
  })

  /** A separate back office on the same data; `slow`: others run between its calls. */
  function process({
    slow,
    before = async () => undefined,
  }: { slow?: () => number; before?: (call: string) => Promise<void> } = {}): BackOffice {
    const turn = async (call: string) => {
      await before(call)
      for (let turns = Math.floor((slow?.() ?? 0) * 6); turns > 0; turns -= 1) {
        await new Promise(setImmediate)
      }
    }
    const calling: OpenDocuments = (kind) => {
      const documents = open(kind)
      return new Proxy(documents, {
        get: (target, name: keyof DocumentStore<never>) => async (value: never, more: never) => {
          await turn(`${kind.name}.${name}`)
          return (target[name] as (one: never, two: never) => Promise<unknown>)(value, more)
        },
      })
    }
    return openBackOffice(calling, {
      disabledDevices: async () => [],
      livesOf: async () => new Map(),
    })
  }

  /**
   * Does `work` in a process that dies after this many calls to the database; returns whether it
   * died.
   */
  async function diesAfter(calls: number, work: (dying: BackOffice) => Promise<unknown>) {
    let left = calls
    const before = async () => {
      left -= 1
      if (left < 0) throw new Error('died')
    }
    try {
      await work(process({ before }))
      return false
    } catch (error) {
      expect(error).toMatchObject({ message: 'died' })
      return true
    }
  }

  async function accountWith(count: number) {
    const store = process()
    const own = account()
    const accountId = own.id
    await store.createAccount(own)
    const admins = Array.from({ length: count }, (_, n) =>
      operator({ accountId, platform: false, email: `${n}@${accountId}.example.org` }),
    )
    for (const admin of admins) await store.createOperator(admin)
    return { store, accountId, admins }
  }
})

function leave(
  store: BackOffice,
  { id: operatorId, accountId }: Operator,
  kind: 'delete' | 'demote',
) {
  return kind === 'delete'
    ? store.deleteOperator({ accountId, operatorId })
    : store.changeOperator({ accountId, operatorId, role: 'viewer' })
}

async function adminsOf(store: BackOffice, accountId: string): Promise<string[]> {
  const all = await store.pageOperators({ accountId, limit: 99 })
  return all.filter(({ role }) => role === 'admin').map(({ id }) => id)
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
