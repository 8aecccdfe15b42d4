import { carryOut } from '../fork.ts'
import { sendLoad, type LoadPlan } from './loops.ts'
import type { LoadTarget } from './requests.ts'

/** The load generator, a separate process, so that its work does not count as the service's. */
carryOut(({ target, ...load }: LoadPlan & { readonly target: LoadTarget }) =>
  sendLoad(target, load),
)
