/** @node all */
import { describe, expect, test } from '@jest/globals'
import { sleepers } from '../../../runtime/process/repeat.ts'

const LONG_MS = 3_600_000

describe('sleepers', () => {
  test('sleepers sleep for their time', async () => {
    await sleepers().sleep(1, new AbortController().signal)
  })

  test('sleepers wake immediately on an abort, also an earlier one', async () => {
    const readers = sleepers()
    const stop = new AbortController()
    const asleep = readers.sleep(LONG_MS, stop.signal)
    stop.abort()
    await asleep
    await readers.sleep(LONG_MS, stop.signal)
  })

  test('a wake-up wakes all sleepers; later ones sleep', async () => {
    const readers = sleepers()
    const { signal } = new AbortController()
    const asleep = [readers.sleep(LONG_MS, signal), readers.sleep(LONG_MS, signal)]
    readers.wakeAll()
    await Promise.all(asleep)

    let woken = false
    const later = readers.sleep(LONG_MS, signal).then(() => (woken = true))
    await new Promise(setImmediate)
    expect(woken).toBe(false)
    readers.wakeAll()
    await later
  })
})
