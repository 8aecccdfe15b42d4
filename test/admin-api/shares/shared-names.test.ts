import { expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { harness, headers, MINUTE, newToken, shared, startWithDevices } from './shares-harness.ts'

test('a share shows the link’s name for a device, not the device’s own', async () => {
  await startWithDevices()
  await harness.api('PATCH', '/devices/ferry', { headers, body: { name: 'F-7' } })
  const names = { ferry: 'Your ferry' }
  const token = await newToken({ names })
  const { items } = (await shared(token)).body.data ?? {}
  expect(items?.map(({ name }) => name)).toEqual(['Device 1', 'Your ferry'])
  const list = await harness.api('GET', '/shares', { headers })
  expect(list.body.data?.items?.[0]).toMatchObject({ name: 'Ferries', names })
})

test('a link can name a device whose id is a property of every object', async () => {
  const deviceIds = ['__proto__', 'constructor', 'toString']
  await startWithDevices()
  for (const deviceId of deviceIds) await harness.project({ deviceId })
  for (const named of ['__proto__', 'constructor']) {
    const names = JSON.parse(`{"${named}":"Your van"}`) as object
    // Links with the same time have no order.
    harness.clock.time += 1
    const token = await newToken({ deviceIds, names })
    const shown = deviceIds.map((id, n) => (id === named ? 'Your van' : `Device ${n + 1}`))
    expect((await shared(token)).body.data?.items?.map(({ name }) => name)).toEqual(shown)
    const list = await harness.api('GET', '/shares', { headers })
    expect(JSON.stringify(list.body.data?.items?.[0]?.['names'])).toBe(JSON.stringify(names))
  }
})

test('a share created without a name shows its devices’ names as its own', async () => {
  await startWithDevices()
  const title = async (body: object) => {
    const token = await newToken({ name: null, ...body })
    const name = (await shared(token)).body.data?.['name']
    const list = await harness.api('GET', '/shares', { headers })
    expect(list.body.data?.items?.map((share) => share['name'])).toContain(name)
    return name
  }
  const [one, two, three] = [['tug'], ['tug', 'ferry'], ['tug', 'ferry', 'other']]
  expect(await title({ deviceIds: one })).toBe('Device 1')
  await harness.api('PATCH', '/devices/ferry', { headers, body: { name: 'The ferry' } })
  const names = { tug: 'The tug' }
  expect(await title({ deviceIds: two, names })).toBe('The tug and The ferry')
  expect(await title({ deviceIds: three })).toBe('Device 1, The ferry and Device 3')
  await harness.project({ deviceId: 'buoy', timestamp: T0, receivedAt: T0 })
  const four = [...three, 'buoy']
  expect(await title({ deviceIds: four })).toBe('Device 1, The ferry and 2 more')
})

test('the list of shares reads only the devices that a title may name', async () => {
  const read: string[] = []
  await startWithDevices({
    wrapStore: (store) => ({
      ...store,
      findDevices(query) {
        read.push(...query.deviceIds)
        return store.findDevices(query)
      },
    }),
  })
  const deviceIds = Array.from({ length: 50 }, (_, n) => `boat-${n}`)
  await harness.project({ deviceId: 'boat-0' }, ...deviceIds.map((deviceId) => ({ deviceId })))
  await newToken({ name: null, deviceIds })
  await newToken({ name: 'Fleet', deviceIds: deviceIds.toReversed() }, 4 * MINUTE)
  read.length = 0
  const { body } = await harness.api('GET', '/shares', { headers })
  const names = body.data?.items?.map((share) => share['name'])
  expect(names).toEqual(['Fleet', 'Device 1, Device 2 and 48 more'])
  expect(read).toEqual(['boat-0', 'boat-1', 'boat-2'])
})

test('the title of a share no longer names a device that was erased', async () => {
  await startWithDevices()
  const token = await newToken({ name: null, names: { tug: 'The tug', ferry: 'The ferry' } })
  await harness.api('DELETE', '/devices/tug', { headers })
  expect((await shared(token)).body.data).toMatchObject({ name: 'The ferry' })
  const list = await harness.api('GET', '/shares', { headers })
  expect(list.body.data?.items?.[0]).toMatchObject({
    name: 'The ferry',
    names: { ferry: 'The ferry' },
  })
  expect(list.text).not.toContain('The tug')
})
