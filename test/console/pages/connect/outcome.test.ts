import { describe, expect, test } from '@jest/globals'
import { outcomeOf } from '../../../../console/pages/connect/outcome.ts'

const at = (second: number) => `2026-01-31T12:00:${String(second).padStart(2, '0')}.000Z`
const SINCE = at(10)
const seenAt = (deviceId: string, lastSeenAt: string, firstSeenAt = at(0)) => ({
  deviceId,
  name: null,
  lastSeenAt,
  firstSeenAt,
})
const refusedAt = (receivedAt: string) => ({
  receivedAt,
  error: 'INVALID_PARAMS' as const,
  message: 'latitude is missing',
  body: '{}',
})

function outcome(
  given: Partial<Parameters<typeof outcomeOf>[0]['seen']>,
  answer = undefined as Answer,
) {
  const seen = { devices: [], rejections: [], ...given }
  return outcomeOf({ deviceId: 'van', since: SINCE, seen, answer })
}
type Answer = Parameters<typeof outcomeOf>[0]['answer']

describe('outcomes of connecting a device', () => {
  test('the page waits, even if the device has reported or been refused before', () => {
    const before = { devices: [seenAt('van', at(9))], rejections: [refusedAt(at(9))] }
    expect(outcome({})).toMatchObject({ kind: 'waiting' })
    expect(outcome(before)).toMatchObject({ kind: 'waiting' })
  })

  test('a device that has reported since connecting counts as arrived', () => {
    expect(outcome({ devices: [seenAt('van', at(11))] })).toMatchObject({
      kind: 'arrived',
      isOther: false,
    })
  })

  test('a new device under another id has arrived, an older device has not', () => {
    expect(outcome({ devices: [seenAt('lorry', at(11), at(11))] })).toMatchObject({
      kind: 'arrived',
      isOther: true,
      device: { deviceId: 'lorry' },
    })
    expect(outcome({ devices: [seenAt('lorry', at(11))] })).toMatchObject({ kind: 'waiting' })
  })

  test('the later event, arrival or refusal, counts', () => {
    const devices = [seenAt('van', at(12))]
    expect(outcome({ devices, rejections: [refusedAt(at(11))] }).kind).toBe('arrived')
    expect(outcome({ devices, rejections: [refusedAt(at(13))] })).toMatchObject({
      kind: 'refused',
      message: 'latitude is missing',
    })
  })

  test('a test report is accepted until the device is seen', () => {
    const answer = { at: at(12), status: 200, message: 'accepted' }
    expect(outcome({}, answer).kind).toBe('accepted')
    expect(outcome({ devices: [seenAt('van', at(11))] }, answer).kind).toBe('accepted')
    expect(outcome({ devices: [seenAt('van', at(12))] }, answer).kind).toBe('arrived')
  })

  test('a test report whose key is rejected causes no rejection, but the page still says so', () => {
    const answer = { at: at(12), status: 401, error: 'UNAUTHORIZED', message: 'no such key' }
    expect(outcome({}, answer)).toMatchObject({ kind: 'refused', error: 'UNAUTHORIZED' })
  })
})
