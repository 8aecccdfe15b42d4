import type { ApiError } from './errors.ts'
import type { Logger } from './logger.ts'

const EVERY_MS = 1_000

/**
 * Logs answers with 503, which come in floods: the first at once, later ones once a second as a
 * count, with the cause of the last one if it has one.
 */
export function refusalLog({ logger }: { logger: Logger }): (refusal: ApiError) => void {
  let refused = 0
  let last: ApiError | undefined
  let pause: NodeJS.Timeout | undefined

  function tell(): void {
    pause = undefined
    if (last === undefined) return
    const { message: reason, cause } = last
    logger.warn(
      { refused, reason, ...(cause !== undefined && { err: cause }) },
      'answered with 503',
    )
    refused = 0
    last = undefined
    pause = setTimeout(tell, EVERY_MS).unref()
  }

  return function note(refusal) {
    refused += 1
    last = refusal
    if (pause === undefined) tell()
  }
}
