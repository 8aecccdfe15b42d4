import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { report } from '../../../commands/rebuild/report.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { rebuildableForEachTest } from './rebuild-harness.ts'

const here = rebuildableForEachTest()
const { append, caughtUp, counts, openLog, rebuild } = here

test('a rebuild does not start if the log no longer reaches back far enough, unless forced', async () => {
  await here.eventLog.append([
    positionReported({ receivedAt: T0 }),
    positionReported({ receivedAt: T0 + 1_000 }),
    positionReported({ receivedAt: T0 + 2_000 }),
  ])
  await caughtUp()
  await here.eventLog.trim(T0 + 1_000)
  const refused = await rebuild()
  expect(refused).toMatchObject({ kind: 'log too short' })
  expect(report(refused)).toMatch(/reaches back only to offset 2.*oldest record in use .* 1\./)
  expect(await counts()).toEqual({ 'tracker-1': [3, 3] })
  expect(await rebuild({ force: true })).toMatchObject({ kind: 'switched' })
  expect(await counts()).toEqual({ 'tracker-1': [2, 2] })
})

test('a rebuild recovers if the log has lost events that the read models lack', async () => {
  await here.eventLog.append([positionReported({ receivedAt: T0 + 1_000 })])
  await caughtUp()
  await here.stopProjector()
  await here.eventLog.append([
    positionReported({ receivedAt: T0 }),
    positionReported({ receivedAt: T0 + 2_000 }),
  ])
  await here.eventLog.trim(T0 + 2_000)
  const refused = await rebuild()
  expect(refused).toMatchObject({ kind: 'log too short' })
  expect(report(refused)).toContain('the events at offsets 2 to 2 of partition 0')
  expect(await rebuild({ force: true })).toMatchObject({ kind: 'switched' })
  here.startProjector()
  await append(1)
  await eventually(async () => (await counts())['tracker-1']?.[0] === 2)
})

test('a rebuild does not mistake an empty log for the origin of the records', async () => {
  await append(3)
  await caughtUp()
  await here.stopProjector()
  const other = openLog('other')
  expect(await rebuild({ eventLog: other })).toMatchObject({ kind: 'log too short' })
  expect(await rebuild({ eventLog: other, force: true })).toMatchObject({ kind: 'switched' })
  await other.close()
  await eventually(async () => Object.keys(await counts()).length === 0)
})

test('a forced rebuild accepts another log', async () => {
  await append(3, 'of the lost log')
  await caughtUp()
  await here.stopProjector()
  await here.eventLog.close()
  for (const ending of ['', '-wal', '-shm']) {
    await rm(join(here.directory, `log.sqlite${ending}`), { force: true })
  }
  here.eventLog = openLog()
  await append(5, 'of the new log')
  expect(await rebuild()).toMatchObject({
    kind: 'log too short',
    reason: expect.stringContaining('at offset 3 of partition 0 is event'),
  })
  expect(await rebuild({ force: true })).toMatchObject({ kind: 'switched' })
  here.startProjector()
  await append(1, 'of the new log')
  await eventually(async () => (await counts())['of the new log']?.[0] === 6)
  expect(Object.keys(await counts())).toEqual(['of the new log'])
})
