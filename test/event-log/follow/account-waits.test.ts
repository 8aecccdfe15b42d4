import { setMaxListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import { accountWaits } from '../../../event-log/follow/account-waits.ts'
import { createRing, type RingEntry } from '../../../event-log/follow/ring.ts'
import { positionReported } from '../../samples.ts'

/** A live reader's ring, with readers that wait for it. */
function waitingReaders() {
  const ring = createRing({ before: {}, maxEntries: 1_000, maxBytes: 100_000_000 })
  const listeners = new Set<() => void>()
  const looked = { entries: 0 }
  const counted = Object.create(ring, {
    at: {
      value: (number: number) => {
        looked.entries += 1
        return ring.at(number)
      },
    },
  }) as typeof ring
  const waits = accountWaits({
    ring: counted,
    listen(wake) {
      listeners.add(wake)
      return () => listeners.delete(wake)
    },
  })
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const woken: string[] = []
  const wait = async (accountId: string, from = ring.end) => {
    await waits.until({ accountId, from }, { forMs: 86_400_000, signal: ending.signal })
    woken.push(accountId)
  }
  const push = (entry: RingEntry) => {
    ring.push(entry)
    for (const wake of [...listeners]) wake()
  }
  const position = (accountId: string) => {
    const origin = { partition: 0, offset: ring.end }
    push({ kind: 'position', origin, event: positionReported({ accountId }) })
  }
  return { ring, listeners, looked, woken, wait, push, position, ending }
}

test('an entry wakes only the readers of its account, and is read a single time for all that wait', async () => {
  const { listeners, looked, woken, wait, position, ending } = waitingReaders()
  const others = Array.from({ length: 100 }, (_, n) => wait(`acc-${n + 2}`))
  const own = [wait('acc-1'), wait('acc-1')]
  looked.entries = 0
  for (let n = 0; n < 100; n += 1) position('acc-0')
  expect(looked.entries).toBe(100)
  position('acc-1')
  await Promise.all(own)
  expect(woken).toEqual(['acc-1', 'acc-1'])
  ending.abort()
  await Promise.all(others)
  expect(listeners.size).toBe(0)
})

test('a gap wakes every reader', async () => {
  const { wait, push } = waitingReaders()
  const all = [wait('acc-1'), wait('acc-2')]
  push({ kind: 'gap', reason: 'expired', origin: { partition: 0, offset: 7 } })
  await Promise.all(all)
})

test('a reader does not wait if its entry came before it began to', async () => {
  const { ring, woken, wait, position, ending } = waitingReaders()
  const from = ring.end
  position('acc-1')
  position('acc-2')
  await wait('acc-1', from)
  const late = wait('acc-2', from + 2)
  const lost = wait('acc-1', from - 1)
  await lost
  expect(woken).toEqual(['acc-1', 'acc-1'])
  ending.abort()
  await late
})
