import { storeContract } from '../../contracts/store-contract.ts'
import { describeWith } from '../../services/describe-with.ts'
import { testDatabase } from './database.ts'

await describeWith(['mongodb'], 'the MongoDB store on a server', ({ mongodb }) => {
  storeContract('MongoDB', async () => {
    const database = testDatabase(mongodb)
    let store = await database.open()
    return {
      store,
      async reopen() {
        await store.close()
        store = await database.open()
        return store
      },
      close: () => database.drop(),
    }
  })
})
