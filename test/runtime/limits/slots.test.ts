import { expect, test } from '@jest/globals'
import { Slots } from '../../../runtime/limits/slots.ts'

const refusal = () => new Error('no room')

test('no more calls run concurrently than allowed, and all run in order, even after failures', async () => {
  const slots = new Slots({ most: 2, waiting: 10, refusal })
  const begun: number[] = []
  let running = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, task) =>
      slots.run(async () => {
        begun.push(task)
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (task % 3 === 0) throw new Error(`task ${task}`)
        return task
      }),
    ),
  )
  expect(most).toBe(2)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(3)
})

test('beyond the queue’s length a caller is rejected immediately, and admitted when there is room again', async () => {
  const slots = new Slots({ most: 1, waiting: 1, refusal })
  const finish: (() => void)[] = []
  const lasting = () => slots.run(() => new Promise<void>((resolve) => finish.push(resolve)))
  const first = lasting()
  const second = lasting()
  await expect(lasting()).rejects.toThrow('no room')
  finish[0]?.()
  await first
  // The second caller has taken over the slot, so only the queue has room.
  const third = slots.run(async () => 'third')
  await expect(lasting()).rejects.toThrow('no room')
  finish[1]?.()
  await second
  expect(await third).toBe('third')
  expect(await slots.run(async () => 'fourth')).toBe('fourth')
})

test('a limited number of calls per party may wait, and parties take turns', async () => {
  const slots = new Slots({ most: 1, waiting: 10, waitingEach: 3, refusal })
  const endFirst = await slots.wait('many')
  const order: string[] = []
  const ask = (name: string, party: string) => slots.run(async () => order.push(name), party)
  const many = [1, 2, 3].map((number) => ask(`many ${number}`, 'many'))
  await expect(ask('many 4', 'many')).rejects.toThrow('no room')
  const few = [ask('one', 'one'), ask('other', 'other')]
  endFirst()
  await Promise.all([...many, ...few])
  expect(order).toEqual(['many 1', 'one', 'other', 'many 2', 'many 3'])
  expect(slots.areFree).toBe(true)
})

test('slots released together serve as many waiters', async () => {
  const slots = new Slots({ most: 2 })
  slots.take('many', 2)
  const waiting = ['one', 'other'].map((party) => slots.wait(party))
  slots.giveBack('many', 2)
  await Promise.all(waiting)
  expect(slots.taken).toBe(2)
})

test('no caller waits longer than allowed, and a caller that gave up is skipped', async () => {
  const slots = new Slots({ most: 1, waiting: 1, waitsMs: 20, refusal })
  const giveBack = await slots.wait()
  await expect(slots.wait()).rejects.toThrow('no room')
  expect(slots.areFree).toBe(false)
  giveBack()
  giveBack()
  expect(slots.areFree).toBe(true)
  const again = await slots.wait()
  await expect(slots.wait()).rejects.toThrow('no room')
  again()
})

test('when full, the longest queue gives way to a shorter one', async () => {
  const slots = new Slots({ most: 1, waiting: 4, refusal })
  const giveBack = await slots.wait()
  const order: string[] = []
  const ask = (name: string, party: string) => slots.run(async () => order.push(name), party)
  const asked = [1, 2, 3].map((number) => ask(`a${number}`, 'a'))
  asked.push(ask('b1', 'b'), ask('c1', 'c'), ask('b2', 'b'))
  giveBack()
  const settled = await Promise.allSettled(asked)
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ])
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2'])
  expect(slots.areFree).toBe(true)
})

test('a party holds no more slots than its limit; a free slot stays available for others', async () => {
  const slots = new Slots({ most: 3, mostEach: 2, waiting: 4, refusal })
  const begun: string[] = []
  const take = (party: string) =>
    slots.wait(party).then((giveBack) => {
      begun.push(party)
      return giveBack
    })
  const [first, second] = [take('a'), take('a')]
  void take('a').catch(() => undefined)
  await first
  await second
  const other = await take('b')
  expect(begun).toEqual(['a', 'a', 'b'])
  other()
  await take('c')
  expect(begun).toEqual(['a', 'a', 'b', 'c'])
  ;(await first)()
  await Promise.resolve()
  await Promise.resolve()
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a'])
})
