import { describeWith } from '../services/describe-with.ts'
import { testDatabase } from '../store/mongo/database.ts'
import { accessMatrix } from './access-matrix.ts'
import { startAdmin } from './admin-harness.ts'

await describeWith(['mongodb'], 'on MongoDB', ({ mongodb }) => {
  accessMatrix((operator) => {
    const database = testDatabase(mongodb)
    return startAdmin({
      operator,
      openStore: async ({ clock }) => {
        const store = await database.open({ clock })
        return { ...store, close: () => database.drop() }
      },
    })
  }, 'one call of each kind')
})
