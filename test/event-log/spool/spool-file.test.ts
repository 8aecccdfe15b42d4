import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { SpoolFile } from '../../../event-log/spool/spool-file.ts'
import { positionReported, T0 } from '../../samples.ts'
import { armFault, FaultyDatabase } from '../../model/faulty-driver.ts'

jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: FaultyDatabase }))
const { openSpoolFile } = await import('../../../event-log/spool/spool-file.ts')

let folder: string
let file: SpoolFile

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spool-file-'))
  const limits = { maxBytes: 2 ** 20, maxAgeSeconds: 3600 }
  file = openSpoolFile(join(folder, 'spool.sqlite'), { ...limits, clock: { now: () => T0 } })
})

afterEach(async () => {
  await file.close()
  rmSync(folder, { recursive: true })
})

const failing = { name: 'DependencyError' }

test('a write that was done though the disk said otherwise is counted all the same', async () => {
  await file.write([positionReported()])
  armFault('done, but fails', 1)
  await expect(file.write([positionReported(), positionReported()])).rejects.toMatchObject(failing)
  expect(file.depth().events).toBe(3)
  const waiting = file.next()!
  expect(waiting.events).toHaveLength(3)
  file.remove(waiting.upTo)
  expect(file.isEmpty()).toBe(true)
  await file.write([positionReported()])
  expect(file.isEmpty()).toBe(false)
})

test.each(['done, but fails', 'busy'] as const)(
  'a removal that fails (%s) leaves the right count',
  async (fault) => {
    await file.write([positionReported()])
    const { upTo } = file.next()!
    armFault(fault, 1)
    expect(() => file.remove(upTo)).toThrow(expect.objectContaining(failing))
    const left = fault === 'busy' ? 1 : 0
    expect(file.depth().events).toBe(left)
    expect(file.next()?.events ?? []).toHaveLength(left)
    expect(file.isEmpty()).toBe(left === 0)
  },
)
