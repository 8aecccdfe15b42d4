import { describe, expect, test } from '@jest/globals'
import { ApiFailure } from '../../../console/core/failure.ts'
import { Fleet } from '../../../console/core/fleet.ts'
import type { ApiDevice } from '../../../console/core/live-device.ts'
import { listFleet } from '../../../console/live/list-fleet.ts'
import { eventually } from '../../eventually.ts'

const AT = '2026-01-31T12:00:00.000Z'

function device(deviceId: string): ApiDevice {
  return {
    deviceId,
    name: null,
    status: 'online',
    lastSeenAt: AT,
    firstSeenAt: AT,
    reportCount: 1,
    disabled: false,
    labels: [],
    lastKeyId: 'key-1',
    lastPosition: {
      recordId: deviceId,
      latitude: 1,
      longitude: 2,
      timestamp: AT,
      receivedAt: AT,
    },
  }
}

type Answer = { items: ApiDevice[]; nextCursor: string | null }

/** The test responds to pages in the order of the requests. */
function lister() {
  const fleet = new Fleet()
  const asked: {
    cursor: string | undefined
    signal: AbortSignal
    answer: (page: Answer) => void
    fail: (failure: unknown) => void
  }[] = []
  const made = listFleet({
    fleet,
    readPage: (cursor, signal) =>
      new Promise((answer, fail) => asked.push({ cursor, signal, answer, fail })),
    serverNow: () => Date.parse(AT),
    onChange: () => undefined,
    retryMs: 60_000,
    listEveryMs: 60_000,
  })
  return { fleet, asked, lister: made, ids: () => [...fleet.devices.keys()] }
}

const page = (...ids: string[]): Answer => ({ items: ids.map(device), nextCursor: null })

describe('the lists of a fleet', () => {
  test('the list is read page by page, and the fleet is current only afterwards', async () => {
    const { lister: list, asked, ids } = lister()
    list.listFor(1)
    asked[0]?.answer({ ...page('a'), nextCursor: 'next' })
    await eventually(() => asked.length === 2)
    expect([asked[1]?.cursor, ids(), list.isCurrent.value]).toEqual(['next', ['a'], false])
    asked[1]?.answer(page('b'))
    await eventually(() => list.isCurrent.value)
    expect([ids(), list.isListed.value, list.isCut.value]).toEqual([['a', 'b'], true, false])
  })

  test('a stream resumed without a loss needs no new list', async () => {
    const { lister: list, asked } = lister()
    list.listFor(1)
    asked[0]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    list.stop()
    list.listFor(1)
    expect([asked.length, list.isCurrent.value]).toEqual([1, true])
  })

  test('a lost stream ends reading the list, and its late pages change nothing', async () => {
    const { lister: list, asked, ids } = lister()
    list.listFor(1)
    list.stop()
    expect(asked[0]?.signal.aborted).toBe(true)
    asked[0]?.answer(page('late'))
    list.listFor(2)
    asked[1]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    expect(ids()).toEqual(['a'])
  })

  test('many gaps in a row wait for one list, which a retry reads immediately', async () => {
    const { lister: list, asked } = lister()
    list.listFor(1)
    asked[0]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    for (const gap of [2, 3, 4]) list.listFor(gap)
    expect([asked.length, list.isCurrent.value]).toEqual([1, false])
    list.retry()
    await eventually(() => asked.length === 2)
    asked[1]?.answer(page('b'))
    await eventually(() => list.isCurrent.value)
    list.listFor(4)
    expect([asked.length, list.isCurrent.value]).toEqual([2, true])
  })

  test('a failure is shown, and a retry reads immediately', async () => {
    const { lister: list, asked } = lister()
    list.listFor(1)
    asked[0]?.fail(new ApiFailure('no', { status: 503, error: 'SERVICE_UNAVAILABLE' }))
    await eventually(() => list.failure.value?.status === 503)
    await eventually(() => {
      list.retry()
      return asked.length === 2
    })
    asked[1]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    expect(list.failure.value).toBeUndefined()
  })

  test('the latest devices read ahead do not undo the list that follows', async () => {
    const { lister: list, asked, ids } = lister()
    list.readAhead()
    list.listFor(1)
    asked[1]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    asked[0]?.answer(page('erased meanwhile'))
    await Promise.resolve()
    expect([ids(), asked[0]?.signal.aborted]).toEqual([['a'], true])
  })

  test('closing aborts reading and forgets the devices', async () => {
    const { lister: list, asked, ids } = lister()
    list.listFor(1)
    asked[0]?.answer(page('a'))
    await eventually(() => list.isCurrent.value)
    list.listFor(2)
    list.close()
    expect([ids(), list.isListed.value]).toEqual([[], false])
    list.listFor(1)
    await eventually(() => asked.length === 2)
  })
})
