import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { listDeadLetters, replayDeadLetters } from '../../../commands/dead-letters/dead-letters.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { deviceStatus, FOLD_VERSION } from '../../../projector/device-status.ts'
import { holdFile } from '../../../runtime/sqlite/data-directory.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { startProgram } from '../../programs.ts'
import { closeAfterwards } from '../../closing.ts'
import { ownDirectory } from '../../own-directory.ts'
import { deviceErased, positionReported, T0 } from '../../samples.ts'

const clock = { now: () => T0 }

/** A log whose four events an older version dead-lettered; the device `gone` was erased later. */
async function startWithDeadLetters() {
  const directory = await ownDirectory()
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  closeAfterwards(() => eventLog.close())
  const store = openSqliteStore({ directory })
  closeAfterwards(() => store.close())
  await eventLog.append([
    positionReported({ deviceId: 'a' }),
    positionReported({ deviceId: 'gone' }),
  ])
  await eventLog.erase(deviceErased({ deviceId: 'b' }))
  for (const offset of [1, 2, 3]) {
    const origin = { partition: 0, offset }
    const reason = 'of a newer version'
    const letter = { kind: 'unreadable', origin, reason, key: null, value: null } as const
    await eventLog.deadLetters.append([letter])
  }
  const erasure = deviceErased({ deviceId: 'gone' })
  await eventLog.erase(erasure)
  const origin = { partition: 0, offset: 4 }
  const entries = [{ kind: 'erasure', origin, event: erasure } as const]
  await store.project({
    partition: 0,
    lastOffset: 4,
    entries,
    fold: deviceStatus,
    foldVersion: FOLD_VERSION,
  })
  return { directory, eventLog, store }
}

test("a readable dead letter returns to the log, an erased device's is removed, the rest stay", async () => {
  const { eventLog, store } = await startWithDeadLetters()
  let text = ''
  await replayDeadLetters({ eventLog, store }, (more) => (text += more))
  expect(text).toContain('left: partition 0, offset 3: an erasure would remove')
  expect(text).toContain('1 replayed, 1 removed because their device was erased since, 1 left.')
  expect(await eventLog.deadLetters.count()).toBe(1)
  expect(await eventLog.extent()).toMatchObject([{ next: 6 }])
  text = ''
  await listDeadLetters(eventLog, (more) => (text += more))
  expect(text).toContain('partition 0, offset 3: of a newer version (now: erasure)')
  expect(text).toContain('1 dead letters, 0 of them can be replayed.')
})

test('a dead letter of an unknown type, or of a device being erased, stays', async () => {
  const { directory, eventLog, store } = await startWithDeadLetters()
  const erasure = deviceErased({ deviceId: 'a', eventId: '01KDVN9C00ERASED9000000000' })
  await store.hideErased(erasure)
  const file = new DatabaseSync(join(directory, 'log.sqlite'))
  file.exec(`INSERT INTO events (offset, key, type, id, received_at, value)
    VALUES (5, 'acc-1/a', 'DeviceMoved.v7', '01KDVN9C0000000000000000ZZ', ${T0}, x'7b7d')`)
  file.close()
  const origin = { partition: 0, offset: 5 }
  const reason = 'of a newer version'
  await eventLog.deadLetters.append([
    { kind: 'unreadable', origin, reason, key: null, value: null },
  ])
  let text = ''
  await replayDeadLetters({ eventLog, store }, (more) => (text += more))
  expect(text).toContain('left: partition 0, offset 1: its device is being erased: try again\n')
  expect(text).toContain(
    'left: partition 0, offset 5: events of the type DeviceMoved.v7 are not known\n',
  )
  expect(text).toContain('0 replayed, 1 removed because their device was erased since, 3 left.')
})

test('the program lists dead letters, replays them if nothing else uses the data, and has help', async () => {
  const { directory, eventLog } = await startWithDeadLetters()
  const run = async (...args: string[]) => {
    const program = startProgram('commands/dead-letters/main', {
      args,
      env: { DATA_DIR: directory },
    })
    return { code: await program.ended, output: program.output() }
  }
  expect(await run('--help')).toMatchObject({ code: 0, output: expect.stringContaining('Usage') })
  expect(await run('all')).toMatchObject({ code: 2 })
  const held = holdFile(join(directory, 'in-use.lock'), { waitMs: 0 })
  expect(await run('replay')).toMatchObject({
    code: 1,
    output: expect.stringContaining('stop it, replay the dead letters, start it again'),
  })
  expect(await run('list')).toMatchObject({
    code: 0,
    output: expect.stringContaining('3 dead letters, 2 of them can be replayed.'),
  })
  held?.release()
  expect(await run('replay')).toMatchObject({
    code: 0,
    output: expect.stringContaining('1 replayed'),
  })
  expect(await eventLog.deadLetters.count()).toBe(1)
})
