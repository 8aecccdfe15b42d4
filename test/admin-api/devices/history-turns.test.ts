import { expect, test } from '@jest/globals'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { bearer, startAdmin } from '../admin-harness.ts'

/** Reads of histories wait until released. */
async function startHeldUp() {
  const held: { accountId: string; go: () => void }[] = []
  let letGo = false
  const harness = await startAdmin({
    wrapStore: (store: Store) => ({
      ...store,
      async pageTrack(query) {
        if (!letGo) await new Promise<void>((go) => held.push({ accountId: query.accountId, go }))
        return store.pageTrack(query)
      },
    }),
  })
  await harness.project({ deviceId: 'van' }, { deviceId: 'van', accountId: 'acc-2' })
  const ask = async (accountId: string, call: string) => {
    const { secret } = await harness.createKey({ accountId, scopes: ['positions:read'] })
    return harness.api('GET', `/devices/van/${call}`, { headers: bearer(secret) })
  }
  const release = () => {
    letGo = true
    for (const { go } of held) go()
  }
  return { held, ask, release }
}

test('an account reads two tracks or trips concurrently; other accounts do not wait', async () => {
  const { held, ask, release } = await startHeldUp()
  const answers = [ask('acc-1', 'track'), ask('acc-1', 'trips')]
  await eventually(() => held.length === 2)
  answers.push(ask('acc-1', 'trips'), ask('acc-1', 'track'), ask('acc-2', 'trips'))
  await eventually(() => held.length === 3)
  // Enough time for the other two to start.
  for (let time = 0; time < 5; time += 1) await ask('acc-2', 'activity')
  expect(held.map(({ accountId }) => accountId)).toEqual(['acc-1', 'acc-1', 'acc-2'])
  release()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 200, 200, 200])
})

test('all 35 calls of an account, each with its own key, get their responses one after the other', async () => {
  const { held, ask, release } = await startHeldUp()
  const answers = Array.from({ length: 35 }, () => ask('acc-1', 'trips'))
  await eventually(() => held.length === 2)
  release()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200)).toEqual([])
})
