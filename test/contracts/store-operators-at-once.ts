import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import type { Operator } from '../../store/operators.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, operator } from './store-samples.ts'

/** Operators created and changed concurrently: the database's unique indexes decide. */
export function operatorsAtOnceContract({ promise, alone, shared }: StoreSuite): void {
  alone('only one of many processes succeeds in creating the first operator', async ({ store }) => {
    const firsts = [1, 2, 3, 4, 5].map((n) => {
      // All processes use one name: any of them may complete the account of the one that succeeds.
      const first = account({ name: 'default' })
      const email = `first-${n}@example.org`
      return { account: first, operator: operator({ accountId: first.id, email }) }
    })
    const made = await Promise.all(firsts.map((first) => store.createFirstOperator(first)))
    expect(made.filter(Boolean)).toHaveLength(1)
    for (const [n, first] of firsts.entries()) {
      const found = await store.findOperatorByEmail(first.operator.email)
      expect(found).toEqual(made[n] ? first.operator : undefined)
      expect(await store.findAccount(first.account.id)).toEqual(made[n] ? first.account : undefined)
    }
    const late = account()
    const again = { account: late, operator: operator({ accountId: late.id }) }
    expect(await store.createFirstOperator(again)).toBe(false)
  })

  promise(
    'only one of several operators created concurrently with the same e-mail is made',
    async () => {
      const accountId = await newAccount()
      const all = [1, 2, 3, 4].map(() => operator({ accountId, email: 'at-once@example.org' }))
      const answers = await Promise.all(all.map((one) => shared.store.createOperator(one)))
      expect(answers.filter(Boolean)).toHaveLength(1)
      const listed = await shared.store.pageOperators({ accountId, limit: 9 })
      expect(listed.map(({ id }) => id)).toEqual([all[answers.indexOf(true)]?.id])
    },
  )

  promise('admins who remove each other concurrently leave one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const accountId = await newAccount()
      const [one, other] = [await add(accountId), await add(accountId)]
      const answers = await Promise.all([
        shared.store.deleteOperator({ accountId, operatorId: one.id }),
        round % 2 === 0
          ? shared.store.deleteOperator({ accountId, operatorId: other.id })
          : shared.store.changeOperator({ accountId, operatorId: other.id, role: 'viewer' }),
      ])
      expect(answers).toContain('last admin')
      const left = await shared.store.pageOperators({ accountId, limit: 9 })
      expect(left.filter(({ role }) => role === 'admin')).toHaveLength(1)
    }
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
    'only one of several accounts created concurrently for the same e-mail is made',
    async () => {
      const tries = [1, 2, 3].map(() => {
        const wanted = account()
        return { wanted, admin: operator({ accountId: wanted.id, email: 'one-of-3@example.org' }) }
      })
      const answers = await Promise.all(
        tries.map(({ wanted, admin }) => shared.store.createAccount(wanted, admin)),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
      const listed = await shared.store.pageAccounts({ limit: 1000 })
      const known = new Set(listed.map(({ id }) => id))
      expect(tries.map(({ wanted }) => known.has(wanted.id))).toEqual(answers)
    },
  )

  async function newAccount(): Promise<string> {
    const made = account()
    await shared.store.createAccount(made)
    return made.id
  }

  async function add(accountId: string): Promise<Operator> {
    const added = operator({ accountId, email: `${randomUUID()}@example.org` })
    await shared.store.createOperator(added)
    return added
  }
}
