import { expect, test } from '@jest/globals'
import { readProgress } from '../../projector/projector.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { WentBackError } from '../../store/read-models.ts'
import { eventually } from '../eventually.ts'

test.each([
  ['behind what was projected', { 0: 6, 3: 9 }],
  ['without a partition', { 0: 7 }],
] as const)(
  'a checkpoint that is %s is noticed while there is nothing to project',
  async (_name, restored) => {
    const readModels = { found: { 0: 4, 3: 9 } as Offsets, looks: 0 }
    const progress = watched(readModels)
    await progress.resumeAfter()
    progress.reached({ partition: 0, lastOffset: 7 })
    readModels.found = { 0: 7, 3: 9, 5: 1 }
    const watching = progress.watch(new AbortController().signal)
    const seen = readModels.looks
    await eventually(() => readModels.looks > seen + 2)
    readModels.found = restored
    await expect(watching).rejects.toBeInstanceOf(WentBackError)
  },
)

test('while the store is unavailable its checkpoint is not compared, and the watch still ends on request', async () => {
  const readModels = { found: { 0: 4 } as Offsets | undefined, looks: 0 }
  const progress = watched(readModels)
  await progress.resumeAfter()
  readModels.found = undefined
  const ending = new AbortController()
  const watching = progress.watch(ending.signal)
  await eventually(() => readModels.looks > 3)
  ending.abort()
  await watching
})

function watched(readModels: { found: Offsets | undefined; looks: number }) {
  return readProgress(
    {
      async checkpoint() {
        readModels.looks += 1
        if (readModels.found === undefined) throw new Error('the store is away')
        return readModels.found
      },
    },
    { lookEveryMs: 1 },
  )
}
