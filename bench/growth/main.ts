import { join } from 'node:path'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { progressOn } from '../progress.ts'
import { measureDevices, measureHistory } from './stores.ts'
import type { StoreOrder } from './measure.ts'

/** A process that fills a store through its adapter and then reads it; one order, one answer. */
process.on('disconnect', () => process.exit())
process.once('message', (order: StoreOrder) => {
  answer(order).then(
    (done) => process.send?.({ done }),
    (error: unknown) => {
      process.send?.({ failed: error instanceof Error ? error.stack : String(error) })
    },
  )
})

async function answer(order: StoreOrder) {
  const progress = progressOn(process.stderr, () => performance.now())
  const directory = await temporaryDirectory()
  const store = openSqliteStore({ directory: join(directory.path, 'store') })
  try {
    return await (order.kind === 'devices'
      ? measureDevices(store, { ...order, progress })
      : measureHistory(store, { ...order, progress }))
  } finally {
    await store.close()
    await directory.remove()
  }
}
