import { expect } from '@jest/globals'
import { REJECTED_BODY_BYTES } from '../../schemas/events/report-rejected.ts'
import { eventually } from '../eventually.ts'
import { aGroup, NOW, samples, SOON, type EventLogSuite } from './event-log-suite.ts'
import { readRejections, rejected, several } from './rejection-reader.ts'

/**
 * Groups and queues are the same for all topics. Rejected reports show them: theirs has the most
 * limits. Groups deliver again as those of the events do, by the same code: event-log-subscribing.
 */
export function topicGroupsContract({ promise }: EventLogSuite): void {
  promise('every field of a rejection comes back as it was appended', async ({ log }) => {
    const rejections = [
      rejected({
        error: 'FORBIDDEN',
        message: 'this key may not report for "x"',
        deviceId: '\u0000<b>$ts\ud800'.padEnd(128, '🚜'),
        body: `{"deviceId":"\u0000</script>",${'é'.repeat(1000)}`,
      }),
      rejected({ deviceId: '', body: '' }),
      rejected({ error: 'RATE_LIMITED', count: 1234 }),
      rejected({ body: 'x'.repeat(REJECTED_BODY_BYTES) }),
    ]
    await log.rejections.append(rejections)
    await log.rejections.append([])
    const reader = readRejections(log)
    await eventually(() => reader.taken.length >= rejections.length, SOON)
    expect(reader.taken).toStrictEqual(rejections)
    await reader.stop()
  })

  promise('rejections appended while a subscription runs reach it', async ({ log }) => {
    const reader = readRejections(log)
    for (const rejection of several(3)) {
      await log.rejections.append([rejection])
      await eventually(() => reader.ids().at(-1) === rejection.rejectionId, SOON)
    }
    expect(reader.taken).toHaveLength(3)
    await reader.stop()
  })

  promise(
    'a group continues where it stopped, and another group gets every entry',
    async ({ log, opened }) => {
      const group = aGroup()
      const rejections = several(5)
      await log.rejections.append(rejections.slice(0, 3))
      const before = readRejections(log, { group })
      await eventually(() => before.taken.length >= 3, SOON)
      await before.stop()
      await log.rejections.append(rejections.slice(3))
      await log.close()

      const again = await opened.reopen()
      const after = readRejections(again, { group })
      const other = readRejections(again)
      await eventually(() => after.taken.length >= 2 && other.taken.length >= 5, SOON)
      expect(after.taken).toEqual(rejections.slice(3))
      expect(other.taken).toEqual(rejections)
      await Promise.all([after.stop(), other.stop()])
    },
  )

  promise('an unreadable entry is skipped with one warning', async (given) => {
    const { log, opened, warnings } = given
    const [first, second] = several(2)
    const unreadable = [
      Buffer.from('secret, no JSON'),
      Buffer.from('{"rejectionId":"1"}'),
      Buffer.from([0x22, 0xff, 0x22]),
    ]
    await log.rejections.append([first!])
    for (const value of unreadable) await opened.putRawRejection(value)
    await log.rejections.append([second!])

    let failed = false
    const reader = readRejections(log, {
      async onBatch() {
        if (failed) return
        failed = true
        throw new Error('the store is away')
      },
    })
    await eventually(() => reader.taken.length >= 2, SOON)
    expect(new Set(reader.ids())).toEqual(new Set([first!.rejectionId, second!.rejectionId]))
    const leftOut = () => warnings.filter(({ message }) => message === 'unreadable entry skipped')
    await eventually(() => leftOut().length >= unreadable.length, SOON)
    await reader.stop()
    expect(leftOut().map(({ fields }) => fields)).toEqual(
      unreadable.map(() => ({
        topic: expect.stringMatching(/report-rejected$/),
        partition: expect.any(Number),
        offset: expect.any(Number),
        reason: expect.not.stringContaining('secret'),
      })),
    )
    expect(await log.deadLetters.count()).toBe(0)
  })

  promise('a group with only unreadable entries moves on', async ({ log, opened, warnings }) => {
    const group = aGroup()
    await opened.putRawRejection(Buffer.from('no JSON'))
    const before = readRejections(log, { group })
    const leftOut = () =>
      warnings.filter(({ message }) => message === 'unreadable entry skipped').length
    await eventually(() => leftOut() > 0, SOON)
    await before.stop()
    expect(before.attempts()).toBe(0)

    const rejection = rejected()
    await log.rejections.append([rejection])
    const after = readRejections(log, { group })
    await eventually(() => after.taken.length > 0, SOON)
    expect(after.taken).toEqual([rejection])
    expect(leftOut()).toBe(1)
    await after.stop()
  })

  promise('positions and rejections are separate logs', async (given) => {
    const { log, consume, progressOf } = given
    const group = aGroup()
    const rejections = several(3)
    await log.append(samples(2))
    const before = { extent: await log.extent(), lag: await log.lag(group) }
    await log.rejections.append(rejections)
    expect({ extent: await log.extent(), lag: await log.lag(group) }).toEqual(before)

    const reader = readRejections(log)
    const positions = consume(log, { group })
    await eventually(() => reader.taken.length >= 3 && positions.entries().length >= 2, SOON)
    const lag = () => log.lag(group, progressOf(positions).resumeAfter)
    await eventually(async () => (await lag()).events === 0, SOON)
    await log.trim(NOW)
    await reader.stop()
    const again = readRejections(log)
    await eventually(() => again.taken.length >= 3, SOON)
    expect(again.taken).toEqual(rejections)
    expect(positions.entries().map(({ kind }) => kind)).toEqual(['position', 'position'])
    await again.stop()
  })

  promise('unread rejections delay no position', async ({ log, consume }) => {
    await log.rejections.append(several(1))
    const stuck = readRejections(log, { onBatch: () => Promise.reject(new Error('stuck')) })
    await eventually(() => stuck.attempts() > 0, SOON)
    const events = samples(2)
    await log.append(events)
    const positions = consume(log)
    await eventually(() => positions.events().length >= 2, SOON)
    expect(positions.events()).toEqual(events)
    expect(stuck.taken).toEqual([])
    await stuck.stop()
  })

  promise(
    'rejections beyond the queue’s limit are rejected; positions are not',
    async ({ log }) => {
      const [first, tooMany, positions] = await Promise.allSettled([
        log.rejections.append(several(600)),
        log.rejections.append(several(401)),
        log.append(samples(600)),
      ])
      expect([first?.status, positions?.status]).toEqual(['fulfilled', 'fulfilled'])
      expect(tooMany).toMatchObject({ reason: { name: 'DependencyError', retriable: true } })
      await log.rejections.append(several(401))
    },
  )

  promise('a rejection that would be unreadable is not written', async ({ log }) => {
    for (const changes of [
      { rejectionId: 'rejection-1' },
      { accountId: '' },
      { receivedAt: NaN },
      { error: 'SERVER_ERROR' as 'FORBIDDEN' },
      { count: 0 },
      { deviceId: 'x'.repeat(129) },
      { body: 'é'.repeat(REJECTED_BODY_BYTES / 2 + 1) },
    ]) {
      const refused = { name: 'UndecodableEventError' }
      await expect(log.rejections.append([rejected(changes)])).rejects.toMatchObject(refused)
    }
    const rejection = rejected()
    await log.rejections.append([rejection])
    const reader = readRejections(log)
    await eventually(() => reader.taken.length > 0, SOON)
    expect(reader.taken).toEqual([rejection])
    await reader.stop()
  })

  promise('closing finishes queued rejections', async ({ log, opened }) => {
    const rejections = several(30)
    const appends = rejections.map((rejection) => log.rejections.append([rejection]))
    await Promise.all([log.close(), ...appends])
    const closed = { name: 'DependencyError', retriable: true }
    await expect(log.rejections.append(several(1))).rejects.toMatchObject(closed)
    const reader = readRejections(await opened.reopen())
    await eventually(() => reader.taken.length >= 30, SOON)
    expect(reader.ids().sort()).toEqual(rejections.map(({ rejectionId }) => rejectionId).sort())
    await reader.stop()
  })

  promise('closing waits for the current batch of rejections and commits it', async (given) => {
    const { log, opened } = given
    const group = aGroup()
    const [first, second] = several(2)
    await log.rejections.append([first!])
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const reader = readRejections(log, { group, onBatch: () => released })
    await eventually(() => reader.attempts() > 0, SOON)
    const closed = log.close()
    release()
    await Promise.all([closed, reader.ended])
    expect(reader.taken).toEqual([first])

    const again = await opened.reopen()
    await again.rejections.append([second!])
    const next = readRejections(again, { group })
    await eventually(() => next.taken.length > 0, SOON)
    expect(next.taken).toEqual([second])
    await next.stop()
  })
}
