/** @node all */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { SpoolFile } from '../../../event-log/spool/spool-file.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported, T0 } from '../../samples.ts'
import { armFault, FaultyDatabase } from '../../model/faulty-driver.ts'

jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: FaultyDatabase }))
const { openSpoolFile } = await import('../../../event-log/spool/spool-file.ts')

const folder = directoryForEachTest()
let file: SpoolFile

beforeEach(() => void (file = open()))

afterEach(() => file.close())

function open(): SpoolFile {
  const limits = { maxBytes: 2 ** 20, maxAgeSeconds: 3600 }
  return openSpoolFile(join(folder(), 'spool.sqlite'), { ...limits, clock: { now: () => T0 } })
}

async function reopen(): Promise<void> {
  await file.close()
  file = open()
}

const failing = { name: 'DependencyError' }

test('a write that succeeded despite an error is counted', async () => {
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
  'confirmed entries are neither returned nor counted again, even if they could not be removed (%s)',
  async (fault) => {
    await file.write([positionReported()])
    const { upTo } = file.next()!
    armFault(fault, 1)
    expect(() => file.remove(upTo)).toThrow(expect.objectContaining(failing))
    expect(file.next()).toBeUndefined()
    expect(file.isEmpty()).toBe(true)
    expect(file.depth()).toEqual({ events: 0, bytes: 0, oldestSeconds: 0 })

    await file.write([positionReported()])
    file.remove(file.next()!.upTo)
    await reopen()
    expect(file.next()).toBeUndefined()
  },
)

test('on a disk too full for removals, the reserved space is released, and reserved again at the end', async () => {
  await file.write(Array.from({ length: 600 }, () => positionReported()))
  const ballast = join(folder(), 'spool.sqlite.ballast')
  const keptBytes = statSync(ballast).size
  armFault('full', 1)
  file.remove(file.next()!.upTo)
  expect(existsSync(ballast)).toBe(false)
  expect(file.depth().events).toBe(100)
  file.remove(file.next()!.upTo)
  expect(file.isEmpty()).toBe(true)
  expect(statSync(ballast).size).toBe(keptBytes)
})
