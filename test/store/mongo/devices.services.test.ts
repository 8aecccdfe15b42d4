import { expect } from '@jest/globals'
import { describeWith } from '../../services/describe-with.ts'
import { T0 } from '../../samples.ts'
import { mongoSuite } from './database.ts'

await describeWith(['mongodb'], 'device settings in MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise('no concurrent first change of a device is lost', async ({ open }) => {
    const stores = [await open(), await open()]
    for (let round = 0; round < 10; round += 1) {
      const device = { accountId: 'acc-1', deviceId: `tracker-${round}`, changedAt: T0 }
      const changes = [
        { ...device, name: 'Ferry' },
        { ...device, disabled: true },
        { ...device, expectedIntervalSeconds: 30 },
      ]
      await Promise.all(
        stores.flatMap((store) => changes.map((change) => store.changeDeviceSettings(change))),
      )
      expect(await stores[0]?.changeDeviceSettings(device)).toEqual({
        name: 'Ferry',
        disabled: true,
        expectedIntervalSeconds: 30,
      })
    }
  })
})
