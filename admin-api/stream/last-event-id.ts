import { invalidParams } from '../../runtime/errors.ts'
import type { AdminContext } from '../http/admin-route.ts'
import { readMark, type ReaderPosition } from '../../event-log/follow/mark.ts'

/**
 * The place after which a returning client resumes, if it sends one.
 * @throws {ApiError} 400 for an id that is not from this stream.
 */
export function lastEventId(ctx: AdminContext): ReaderPosition | undefined {
  const mark = ctx.get('last-event-id')
  if (mark === '') return undefined
  const position = readMark(mark)
  if (position !== undefined) return position
  const message =
    'Last-Event-ID must be the id of an event of this stream, unchanged; leave it out to begin with new events'
  throw invalidParams([{ field: 'Last-Event-ID', message }])
}
