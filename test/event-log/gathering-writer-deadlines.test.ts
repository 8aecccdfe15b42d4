import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { waitingRoom } from '../../event-log/gathering-writer.ts'
import { eventually } from '../eventually.ts'
import { heldWriter, numbered, turns } from './gathering-writers.ts'

describe('a gathering writer with a deadline', () => {
  test('at its deadline a waiting call is rejected and dropped, and its slot stays occupied', async () => {
    const { writer, batches, settleNext } = heldWriter({ deadlineMs: 1_000 })
    const outstanding = writer.write(['outstanding'], 1)
    await eventually(() => batches.length === 1)
    const dropped = writer.write(['dropped'], 1)
    const late = { name: 'DependencyError', retriable: true }
    await expect(outstanding).rejects.toMatchObject(late)
    await expect(dropped).rejects.toMatchObject(late)

    const next = writer.write(['next'], 1)
    await turns(5)
    expect(batches).toEqual([['outstanding']])
    settleNext()
    await eventually(() => batches.length === 2)
    settleNext()
    await next
    expect(batches).toEqual([['outstanding'], ['next']])
  })

  test('dropped calls make room in the queue', async () => {
    const { writer, batches } = heldWriter({
      deadlineMs: 1_000,
      room: waitingRoom({ maxItems: 2 }),
    })
    const calls = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    calls.push(writer.write(['a', 'b'], 2))
    await expect(writer.write(['c'], 1)).rejects.toThrow('overloaded')
    await Promise.allSettled(calls)
    await expect(writer.write(['d', 'e'], 2)).rejects.toThrow('within 1000 ms')
  })

  test('dropped calls are forgotten while the outstanding batch hangs', async () => {
    const { writer, batches } = heldWriter({ deadlineMs: 50 })
    // Errors hold on to the timers that made them.
    const write = (items: string[]) => writer.write(items, 1).catch(() => 'dropped')
    const calls = [write(['outstanding'])]
    await eventually(() => batches.length === 1)
    const dropped = numbered(100).map((item) => {
      const items = [item]
      calls.push(write(items))
      return new WeakRef(items)
    })
    await Promise.all(calls)
    await turns(5)
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    collectGarbage()
    expect(dropped.filter((items) => items.deref() !== undefined)).toEqual([])
  })

  test('closing does not wait for a write that hangs beyond the deadline of its calls', async () => {
    const { writer, batches } = heldWriter({ deadlineMs: 1_000 })
    const hanging = writer.write(['a'], 1)
    await eventually(() => batches.length === 1)
    const answers = await Promise.allSettled([hanging, writer.close()])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})
