import { expect, test } from '@jest/globals'
import { watchProgress } from '../../projector/measure-lag.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { T0 } from '../samples.ts'

function watched() {
  const clock = { time: T0, now: () => clock.time }
  const at: { next: number; projected: Offsets; judged: Offsets | undefined } = {
    next: 5,
    projected: { 0: 4 },
    judged: { 0: 4 },
  }
  const watch = watchProgress({
    eventLog: { extent: async () => [{ partition: 0, first: 0, next: at.next, whole: true }] },
    store: { checkpoint: async () => at.projected, factsProgress: async () => at.judged },
    clock,
  })
  async function after(seconds: number, changes: Partial<typeof at> = {}): Promise<string> {
    clock.time = T0 + seconds * 1_000
    Object.assign(at, changes)
    await watch.look()
    return watch.ready().then(
      () => 'ready',
      (error: Error) => error.message,
    )
  }
  return { after }
}

test('the projector is not ready when judging has been stuck for 30 s although the log has grown', async () => {
  const { after } = watched()
  expect(await after(0)).toBe('ready')
  expect(await after(100, { next: 9 })).toBe('ready')
  expect(await after(105, { projected: { 0: 8 } })).toBe('ready')
  expect(await after(131)).toBe('judging partition 0 has stood still for 31 s')
  expect(await after(135, { judged: { 0: 6 } })).toBe('ready')
  expect(await after(165)).toBe('judging partition 0 has stood still for 30 s')
  expect(await after(170, { judged: { 0: 8 } })).toBe('ready')
})

test('the projector is not ready when projecting has been stuck for 30 s although the log has grown', async () => {
  const { after } = watched()
  expect(await after(100, { next: 9, judged: undefined })).toBe('ready')
  expect(await after(130)).toBe('projecting partition 0 has stood still for 30 s')
})

test('a projector that catches up slowly, or has nothing to do, is ready', async () => {
  const { after } = watched()
  for (let n = 0; n < 10; n += 1) {
    const done = { 0: 4 + n }
    expect(await after(25 * n, { next: 100, projected: done, judged: done })).toBe('ready')
  }
  const all = { 0: 99 }
  for (const seconds of [300, 400]) {
    expect(await after(seconds, { projected: all, judged: all })).toBe('ready')
  }
})
