import { describe, expect, test } from '@jest/globals'
import { deviceStatus } from '../../projector/device-status.ts'
import { readPageAt, rankAmong, type RankedDevice } from '../../store/device-ranking.ts'
import type { DevicePlace } from '../../store/read-models.ts'
import { positionReported } from '../samples.ts'

const accountId = 'acc-1'
const DEVICE_IDS = Array.from({ length: 30 }, (_, n) => `tracker-${String(n).padStart(2, '0')}`)

/** Devices ranked by one of three values; some are erased between ranking and reading. */
async function pageWithout(erased: (found: string) => boolean, after?: DevicePlace) {
  let read = 0
  async function* walk(): AsyncGenerator<readonly RankedDevice[]> {
    yield DEVICE_IDS.map((deviceId, n): RankedDevice => [deviceId, null, n % 3])
  }
  const page = readPageAt(
    { accountId, limit: 4, sort: 'firstSeenAt', ...(after && { after }) },
    {
      place: (query) => rankAmong(query, { walk: walk(), isInOrder: false }),
      async find(deviceIds) {
        read += deviceIds.length
        return deviceIds.filter((deviceId) => !erased(deviceId)).map(device)
      },
    },
  )
  return {
    ids: (await page).map(({ status }) => status.deviceId),
    end: (await page).at(-1)?.place,
    read,
  }
}

function device(deviceId: string) {
  const event = positionReported({ accountId, deviceId })
  const origin = { partition: 0, offset: 1 }
  return {
    status: deviceStatus(undefined, { event, origin }),
    settings: { disabled: false },
  }
}

describe('the ranks of devices that report meanwhile', () => {
  test('belong to one device each', async () => {
    async function* walk(): AsyncGenerator<readonly RankedDevice[]> {
      yield [
        ['a', null, 1],
        ['b', null, 2],
      ]
      yield [
        ['a', null, 3],
        ['c', null, 4],
      ]
    }
    const query = { accountId, limit: 9, sort: 'lastSeenAt' } as const
    const places = await rankAmong(query, { walk: walk(), isInOrder: true })
    expect(places.map(({ deviceId }) => deviceId)).toEqual(['a', 'b', 'c'])
  })
})

describe('a page of ranked devices', () => {
  test('reads only the devices on it', async () => {
    const { ids, read } = await pageWithout(() => false)
    expect(ids).toEqual(['tracker-00', 'tracker-03', 'tracker-06', 'tracker-09'])
    expect(read).toBe(4)
  })

  test('is full even if devices on it are erased while it is read', async () => {
    const { ids, end } = await pageWithout((id) => id === 'tracker-03' || id === 'tracker-12')
    expect(ids).toEqual(['tracker-00', 'tracker-06', 'tracker-09', 'tracker-15'])
    const next = await pageWithout(() => false, end)
    expect(next.ids[0]).toBe('tracker-18')
  })

  test('is a temporary error, not an early end, if all devices it finds are erased', async () => {
    await expect(pageWithout(() => true)).rejects.toMatchObject({
      name: 'DependencyError',
      retriable: true,
    })
  })
})
