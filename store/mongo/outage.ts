import type { Logger } from 'pino'
import { Outage } from '../../runtime/outage.ts'

/** The outage of the server, for all clients of a process. */
export function mongoOutage(logger: Logger): Outage {
  return new Outage({ dependency: 'MongoDB', variable: 'MONGODB_URL', logger })
}
