import { carryOut } from '../fork.ts'
import { sendLoad, type Load } from './loops.ts'
import type { Target } from './requests.ts'

/** The load generator, a separate process, so that its work does not count as the service's. */
carryOut(({ target, ...load }: Load & { readonly target: Target }) => sendLoad(target, load))
