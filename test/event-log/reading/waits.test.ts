import { setMaxListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import { createRing, type RingEntry } from '../../../event-log/reading/ring.ts'
import { positionReported } from '../../samples.ts'

/** A live reader's ring, with readers that wait for it. */
function waitingReaders() {
  const ring = createRing({ before: {}, maxEntries: 1_000, maxBytes: 100_000_000 })
  const looked = { times: 0 }
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const woken: string[] = []
  const wait = async (accountId: string, from = ring.end) => {
    const isThere = () => {
      looked.times += 1
      return ring.end > from
    }
    await ring.until(isThere, { accountId, forMs: 86_400_000, signal: ending.signal })
    woken.push(accountId)
  }
  const push = (entry: RingEntry) => {
    ring.push(entry)
    ring.wake()
  }
  const position = (accountId: string) => {
    const origin = { partition: 0, offset: ring.end }
    push({ kind: 'position', origin, event: positionReported({ accountId }) })
  }
  return { ring, looked, woken, wait, push, position, ending }
}

test('an entry wakes only the readers of its account, however many others wait', async () => {
  const { looked, woken, wait, position, ending } = waitingReaders()
  const others = Array.from({ length: 100 }, (_, n) => wait(`acc-${n + 2}`))
  const own = [wait('acc-1'), wait('acc-1')]
  looked.times = 0
  for (let n = 0; n < 100; n += 1) position('acc-0')
  expect(looked.times).toBe(0)
  position('acc-1')
  await Promise.all(own)
  expect(woken).toEqual(['acc-1', 'acc-1'])
  expect(looked.times).toBe(2)
  ending.abort()
  await Promise.all(others)
  for (let n = 0; n < 102; n += 1) position(`acc-${n}`)
  expect(looked.times).toBe(2)
})

test('a gap wakes every reader', async () => {
  const { wait, push } = waitingReaders()
  const all = [wait('acc-1'), wait('acc-2')]
  push({ kind: 'gap', reason: 'expired', origin: { partition: 0, offset: 7 } })
  await Promise.all(all)
})

test('a reader does not wait if its entry arrived earlier', async () => {
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
