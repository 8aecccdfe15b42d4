import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import type { Operator } from '../../store/operators.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, operator } from './store-samples.ts'

export function operatorChangesContract({ promise, alone, shared }: StoreSuite): void {
  let made = 0

  promise('an e-mail is unique in the whole service, ignoring case', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    const first = await add(one, { email: 'Žofia.One@Example.org' })
    for (const accountId of [one, other]) {
      const again = operator({ accountId, email: 'žofia.ONE@example.ORG' })
      expect(await shared.store.createOperator(again)).toBe(false)
      const { id: operatorId } = again
      expect(await shared.store.findOperator({ accountId, operatorId })).toBeUndefined()
      expect(await operatorIds(accountId)).not.toContain(operatorId)
    }
    expect(await shared.store.findOperatorByEmail('žofia.one@example.org')).toEqual(first)
  })

  promise('an operator is found only in its own account', async () => {
    const [accountId, other] = [await newAccount(), await newAccount()]
    const { id: operatorId, ...rest } = await add(accountId, { role: 'viewer' })
    expect(await shared.store.findOperator({ accountId, operatorId })).toEqual({
      id: operatorId,
      ...rest,
    })
    const theirs = { accountId: other, operatorId }
    expect(await shared.store.findOperator(theirs)).toBeUndefined()
    expect(await shared.store.changeOperator({ ...theirs, role: 'admin' })).toBeUndefined()
    expect(await shared.store.deleteOperator(theirs)).toBeUndefined()
    expect(await shared.store.findOperator({ accountId, operatorId: 'none' })).toBeUndefined()
    expect(await shared.store.findOperator({ accountId, operatorId })).toBeDefined()
  })

  promise('an operator can change from any role to any other', async () => {
    const accountId = await newAccount()
    await add(accountId)
    const { id: operatorId } = await add(accountId, { role: 'dispatcher' })
    const role = async () => (await shared.store.findOperator({ accountId, operatorId }))?.role
    expect(await role()).toBe('dispatcher')
    for (const next of [
      'viewer',
      'dispatcher',
      'admin',
      'dispatcher',
      'viewer',
      'admin',
    ] as const) {
      const changed = await shared.store.changeOperator({ accountId, operatorId, role: next })
      expect(changed).toMatchObject({ role: next })
      await shared.store.changeOperator({ accountId, operatorId, passwordHash: 'scrypt$z' })
      expect(await role()).toBe(next)
    }
  })

  promise('the named fields of an operator change, the rest stays', async () => {
    const accountId = await newAccount()
    await add(accountId)
    const before = await add(accountId, { role: 'viewer', platform: false })
    const change = (fields: object) =>
      shared.store.changeOperator({ accountId, operatorId: before.id, ...fields })
    expect(await change({})).toEqual(before)
    expect(await change({ role: 'admin' })).toEqual({ ...before, role: 'admin' })
    const after = { ...before, role: 'viewer', passwordHash: 'scrypt$y', platform: true }
    expect(await change({ role: 'viewer', passwordHash: 'scrypt$y', platform: true })).toEqual(
      after,
    )
    expect(await shared.store.findOperatorByEmail(before.email)).toEqual(after)
    expect(await change({ platform: false })).toEqual({ ...after, platform: false })
  })

  promise(
    'the last admin of an account cannot be removed, even if other accounts have admins',
    async () => {
      const [accountId, other] = [await newAccount(), await newAccount()]
      await add(other)
      const [admin, viewer] = [await add(accountId), await add(accountId, { role: 'viewer' })]
      const named = { accountId, operatorId: admin.id }
      expect(await shared.store.changeOperator({ ...named, role: 'viewer' })).toBe('last admin')
      expect(await shared.store.deleteOperator(named)).toBe('last admin')
      expect(await shared.store.findOperator(named)).toEqual(admin)
      // A change that does not take the role away is always possible.
      expect(
        await shared.store.changeOperator({ ...named, passwordHash: 'scrypt$z' }),
      ).toMatchObject({
        role: 'admin',
        passwordHash: 'scrypt$z',
      })
      await shared.store.changeOperator({ accountId, operatorId: viewer.id, role: 'admin' })
      expect(await shared.store.deleteOperator(named)).toBe('deleted')
      expect(await shared.store.deleteOperator(named)).toBeUndefined()
      expect(await shared.store.deleteOperator({ accountId, operatorId: viewer.id })).toBe(
        'last admin',
      )
      expect(await shared.store.findOperatorByEmail(admin.email)).toBeUndefined()
      expect(await operatorIds(accountId)).toEqual([viewer.id])
    },
  )

  promise('the e-mail of a removed operator can be used again', async () => {
    const accountId = await newAccount()
    await add(accountId)
    const { id: operatorId, email } = await add(accountId)
    await shared.store.deleteOperator({ accountId, operatorId })
    const next = operator({ accountId, email })
    expect(await shared.store.createOperator(next)).toBe(true)
    expect(await shared.store.findOperatorByEmail(email)).toEqual(next)
  })

  alone('the last platform operator of the service stays', async ({ store }) => {
    const [home, other] = [account(), account()]
    const boss = operator({ accountId: home.id, email: 'boss@example.org' })
    const plain = { role: 'admin', platform: false } as const
    const clerk = operator({ accountId: home.id, email: 'clerk@example.org', ...plain })
    const theirs = operator({ accountId: other.id, email: 'theirs@example.org', ...plain })
    await store.createFirstOperator({ account: home, operator: boss })
    await store.createAccount(other, theirs)
    await store.createOperator(clerk)
    const named = { accountId: home.id, operatorId: boss.id }
    const kept = 'last platform operator'
    expect(await store.changeOperator({ ...named, platform: false })).toBe(kept)
    expect(await store.deleteOperator(named)).toBe(kept)
    expect(await store.findOperator(named)).toEqual(boss)
    // A change that does not take it away is always possible.
    const passwordHash = 'scrypt$z'
    expect(await store.changeOperator({ ...named, passwordHash })).toEqual({
      ...boss,
      passwordHash,
    })
    await store.changeOperator({ accountId: other.id, operatorId: theirs.id, platform: true })
    expect(await store.changeOperator({ ...named, platform: false })).toMatchObject({
      platform: false,
    })
    expect(await store.deleteOperator(named)).toBe('deleted')
  })

  alone(
    'platform operators of two accounts, removed concurrently, leave one',
    async ({ store }) => {
      const accounts = [account(), account()]
      const bosses = accounts.map(({ id }, n) =>
        operator({ accountId: id, email: `boss-${n}@example.org` }),
      )
      for (const [n, boss] of bosses.entries()) {
        const home = accounts[n] ?? account()
        const deputy = { accountId: home.id, email: `deputy-${n}@example.org`, platform: false }
        await store.createAccount(home, boss)
        await store.createOperator(operator(deputy))
      }
      const answers = await Promise.all(
        bosses.map(({ accountId, id: operatorId }) =>
          store.deleteOperator({ accountId, operatorId }),
        ),
      )
      expect([...answers].sort()).toEqual(['deleted', 'last platform operator'])
    },
  )

  promise(
    'removing an operator ends its sessions, and on request all sessions but one end',
    async () => {
      const accountId = await newAccount()
      const [ana, ben] = [await add(accountId), await add(accountId)]
      const [first, second, third, bens] = [ana, ana, ana, ben].map(({ id }) => ({
        tokenHash: randomBytes(32),
        operatorId: id,
        createdAt: T0,
        lastSeenAt: T0,
      })) as [Token, Token, Token, Token]
      for (const session of [first, second, third, bens]) await shared.store.createSession(session)
      const alive = async () => {
        const found = [first, second, third, bens].map(({ tokenHash }) =>
          shared.store.findSession(tokenHash),
        )
        return (await Promise.all(found)).map((session) => session !== undefined)
      }
      await shared.store.endSessions({ operatorId: ana.id, except: second.tokenHash })
      expect(await alive()).toEqual([false, true, false, true])
      await shared.store.endSessions({ operatorId: ana.id })
      expect(await alive()).toEqual([false, false, false, true])
      await shared.store.createSession(first)
      await shared.store.deleteOperator({ accountId, operatorId: ana.id })
      expect(await alive()).toEqual([false, false, false, true])
      await shared.store.createSession(third)
      expect(await alive()).toEqual([false, false, false, true])
    },
  )

  promise(
    'an account is created with its first admin, or not at all if the e-mail is taken',
    async () => {
      const taken = await add(await newAccount(), { email: 'Taken@example.org' })
      const [made, refused] = [account({ name: 'Tugs' }), account()]
      const admin = operator({
        accountId: made.id,
        email: 'first-of-tugs@example.org',
        platform: false,
      })
      expect(await shared.store.createAccount(made, admin)).toBe(true)
      expect(await shared.store.findAccount(made.id)).toEqual(made)
      expect(await shared.store.findOperatorByEmail(admin.email)).toEqual(admin)

      const late = operator({ accountId: refused.id, email: 'TAKEN@example.org' })
      expect(await shared.store.createAccount(refused, late)).toBe(false)
      expect(await shared.store.findAccount(refused.id)).toBeUndefined()
      expect(await operatorIds(refused.id)).toEqual([])
      expect(await shared.store.findOperatorByEmail('taken@example.org')).toEqual(taken)
      expect((await accountIds()).has(refused.id)).toBe(false)
      // The refused account leaves no data that prevents another attempt.
      const next = { ...late, email: 'free@example.org' }
      expect(await shared.store.createAccount(refused, next)).toBe(true)
      expect(await operatorIds(refused.id)).toEqual([next.id])
    },
  )

  async function newAccount(): Promise<string> {
    const { id, ...rest } = account()
    expect(await shared.store.createAccount({ id, ...rest })).toBe(true)
    return id
  }

  async function add(accountId: string, fields: Partial<Operator> = {}): Promise<Operator> {
    made += 1
    const added = operator({ accountId, email: `person-${made}@example.org`, ...fields })
    expect(await shared.store.createOperator(added)).toBe(true)
    return added
  }

  async function operatorIds(accountId: string): Promise<string[]> {
    return (await shared.store.pageOperators({ accountId, limit: 99 })).map(({ id }) => id)
  }

  async function accountIds(): Promise<Set<string>> {
    return new Set((await shared.store.pageAccounts({ limit: 1000 })).map(({ id }) => id))
  }
}

type Token = { tokenHash: Buffer; operatorId: string; createdAt: number; lastSeenAt: number }
