import { expect, test } from '@jest/globals'
import { Turns } from '../../../admin-api/sign-in/turns.ts'

test('no more run at once than may, all have their turn in order, failures too', async () => {
  const turns = new Turns({ atOnce: 2, waiting: 10 })
  const begun: number[] = []
  let running = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, task) =>
      turns.run(async () => {
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

test('beyond the line one is turned away at once, and let in when there is room again', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 })
  const finish: (() => void)[] = []
  const lasting = () => turns.run(() => new Promise<void>((resolve) => finish.push(resolve)))
  const first = lasting()
  const second = lasting()
  await expect(lasting()).rejects.toMatchObject({ status: 503 })
  finish[0]?.()
  await first
  // The second has taken the place over, so there is room in the line and nowhere else.
  const third = turns.run(async () => 'third')
  await expect(lasting()).rejects.toMatchObject({ status: 503 })
  finish[1]?.()
  await second
  expect(await third).toBe('third')
  expect(await turns.run(async () => 'fourth')).toBe('fourth')
})
