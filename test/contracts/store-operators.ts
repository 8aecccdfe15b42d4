import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import type { Session } from '../../store/operators.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, operator } from './store-samples.ts'

export function operatorsContract({ promise, alone, shared }: StoreSuite): void {
  alone(
    'an operator is found by the e-mail in any case, and keeps the spelling entered',
    async ({ store }) => {
      const first = account()
      const ana = operator({ accountId: first.id, email: 'Ana.Žižić@Example.org' })
      await store.createFirstOperator({ account: first, operator: ana })
      for (const email of [
        'Ana.Žižić@Example.org',
        'ana.žižić@example.org',
        'ANA.ŽIŽIĆ@EXAMPLE.ORG',
      ]) {
        expect(await store.findOperatorByEmail(email)).toEqual(ana)
      }
      for (const email of ['ana.zizic@example.org', '%', '', 'ana.žižić@example.org\0']) {
        expect(await store.findOperatorByEmail(email)).toBeUndefined()
      }
    },
  )

  promise('an account is found as it was created, and stays suspended', async () => {
    const made = account({ name: 'Zürich "Süd"' })
    await shared.store.createAccount(made)
    expect(await shared.store.findAccount(made.id)).toEqual(made)
    const suspended = { ...made, suspended: true }
    const suspend = { accountId: made.id, suspended: true }
    expect(await shared.store.suspendAccount(suspend)).toEqual(suspended)
    expect(await shared.store.suspendAccount(suspend)).toEqual(suspended)
    await shared.reopen()
    expect(await shared.store.findAccount(made.id)).toEqual(suspended)
    expect(await shared.store.suspendAccount({ ...suspend, suspended: false })).toEqual(made)
  })

  promise(
    'an account that does not exist is not found and cannot be suspended',
    async ({ accountId }) => {
      expect(await shared.store.findAccount(accountId)).toBeUndefined()
      expect(await shared.store.suspendAccount({ accountId, suspended: true })).toBeUndefined()
    },
  )

  alone('a session identifies its operator and account until it is deleted', async ({ store }) => {
    const first = account()
    const ana = operator({ accountId: first.id })
    await store.createFirstOperator({ account: first, operator: ana })
    const [one, two] = [session(ana.id), session(ana.id)]
    await store.createSession(one)
    await store.createSession(two)
    const found = await store.findSession(one.tokenHash)
    expect(found?.operator).toEqual(ana)
    expect(found?.account).toEqual(first)
    expect(found?.session).toMatchObject({ operatorId: ana.id, createdAt: T0, lastSeenAt: T0 })
    expect(Buffer.from(found?.session.tokenHash ?? []).equals(one.tokenHash)).toBe(true)

    await store.suspendAccount({ accountId: first.id, suspended: true })
    expect((await store.findSession(one.tokenHash))?.account.suspended).toBe(true)
    await store.touchSession({ tokenHash: one.tokenHash, lastSeenAt: T0 + 9 })
    expect((await store.findSession(one.tokenHash))?.session.lastSeenAt).toBe(T0 + 9)
    expect((await store.findSession(two.tokenHash))?.session.lastSeenAt).toBe(T0)

    await store.deleteSession(one.tokenHash)
    await store.deleteSession(one.tokenHash)
    expect(await store.findSession(one.tokenHash)).toBeUndefined()
    expect(await store.findSession(two.tokenHash)).toBeDefined()
    await store.touchSession({ tokenHash: one.tokenHash, lastSeenAt: T0 + 10 })
    expect(await store.findSession(one.tokenHash)).toBeUndefined()
  })

  alone('lifting a suspension restores no earlier session', async ({ store }) => {
    const own = account()
    const ana = operator({ accountId: own.id })
    await store.createFirstOperator({ account: own, operator: ana })
    const [before, after] = [session(ana.id), session(ana.id)]
    await store.createSession(before)
    await store.suspendAccount({ accountId: own.id, suspended: true })
    await store.suspendAccount({ accountId: own.id, suspended: false })
    expect(await store.findSession(before.tokenHash)).toBeUndefined()
    await store.createSession(after)
    expect(await store.findSession(after.tokenHash)).toBeDefined()
  })

  alone(
    'an operator keeps the latest 100 sessions, and others all of theirs',
    async ({ store }) => {
      const first = account()
      const ana = operator({ accountId: first.id })
      const ivo = operator({ accountId: first.id, email: 'ivo@example.org' })
      await store.createFirstOperator({ account: first, operator: ana })
      await store.createOperator(ivo)
      const other = session(ivo.id)
      await store.createSession(other)
      const made = Array.from({ length: 102 }, (_, n) => ({
        ...session(ana.id),
        createdAt: T0 + n,
        lastSeenAt: T0 + 1_000 - n,
      }))
      for (const one of made) await store.createSession(one)
      const found = await Promise.all(made.map(({ tokenHash }) => store.findSession(tokenHash)))
      expect(found.map((one) => one !== undefined)).toEqual(made.map((_, n) => n >= 2))
      // A process whose clock is behind: its session still counts as the latest.
      const late = { ...session(ana.id), createdAt: T0 - 1 }
      await store.createSession(late)
      expect(await store.findSession(late.tokenHash)).toBeDefined()
      expect(await store.findSession(other.tokenHash)).toBeDefined()
    },
  )
}

function session(operatorId: string): Session & { tokenHash: Buffer } {
  return { tokenHash: randomBytes(32), operatorId, createdAt: T0, lastSeenAt: T0 }
}
