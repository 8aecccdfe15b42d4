import { pace, saturate } from './loops.ts'
import type { Order } from './generator.ts'

/**
 * The load generator, a separate process, so that its work does not count as the service's. Carries
 * out one order of the bench after the other, and exits with it.
 */
process.on('message', (order: Order) => {
  const window = order.kind === 'pace' ? pace(order.target, order) : saturate(order.target, order)
  window.then(
    (done) => process.send?.({ done }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
