import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { Store } from '../../store/store.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { readMark, type ReaderPosition } from '../../event-log/reading/mark.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { requireRight } from '../http/rights.ts'
import { callerId, deviceList, type Caller } from '../http/caller.ts'
import { textParameter } from '../http/query.ts'
import { parsedValue, type InputOf } from '../http/rule.ts'
import { recordView } from '../http/views.ts'
import type { LiveStreams } from './live-streams.ts'
import { CHOSEN_EVENTS, USUAL_EVENTS, type ChosenEvent } from './frames.ts'
import { accessCheck } from '../http/access-check.ts'

const FILTER = {
  deviceId: textParameter('deviceId', 128).described('Only events of this device'),
  events: parsedValue({
    parse: parseEvents,
    expected: `events must be one or more of ${CHOSEN_EVENTS.join(', ')}, separated by commas`,
    openapi: {
      type: 'string',
      pattern: `^(${CHOSEN_EVENTS.join('|')})(,(${CHOSEN_EVENTS.join('|')}))*$`,
      examples: ['position,rejection'],
    },
  }).described(
    `Which events to send, separated by commas; ${[...USUAL_EVENTS].join(' and ')} where it is not given`,
  ),
}

/** Positions, device statuses and more as they arrive. */
export function streamRoutes({
  streams,
  ...deps
}: {
  store: Store
  clock: Clock
  logger: Logger
  streams: LiveStreams
}): AdminRoute[] {
  const { checkEveryMs, sharedCheckMs } = streams.options
  const mayStillRead = accessCheck({ ...deps, sharedMs: sharedCheckMs })

  async function open(
    ctx: AdminContext,
    caller: Caller,
    { query: { deviceId, events = USUAL_EVENTS } }: Input<InputOf<typeof FILTER>>,
  ): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    if (events.has('rejection')) requireRight(caller, { needs: 'viewer' })
    await streams.open(ctx, {
      showing: {
        accountId,
        events,
        wants: (subject) =>
          subject.accountId === accountId &&
          (deviceId === undefined || subject.deviceId === deviceId) &&
          isListed(devices, subject.deviceId ?? ''),
        isShown: () => true,
        record: recordView,
        resumable: true,
      },
      seat: { accountId, callerId: callerId(caller) },
      resumeAfter: lastEventId(ctx),
      checkEveryMs,
      mayStillRead: () => mayStillRead(ctx, caller),
    })
  }

  return [
    route({
      method: 'GET',
      path: '/stream',
      summary: 'Streams positions, device statuses and other events',
      description: DESCRIPTION,
      needs: 'viewer',
      scope: 'positions:read',
      query: FILTER,
      answer: {
        content: { 'text/event-stream': { type: 'string', description: 'Server-Sent Events' } },
      },
      errors: ['INVALID_PARAMS', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'],
      handle: open,
    }),
  ]
}

const DESCRIPTION = `Server-Sent Events (WHATWG HTML, section 9.2). The service does not end it.

| event | data |
| --- | --- |
| \`position\` | A record, once it is in the log. Its \`id\` is an opaque mark of the position in the log |
| \`device-status\` | A device whose last position or status has changed, within 10 s. It has no \`id\` and is not replayed |
| \`fact\` | An event of a device, as in \`GET /facts\`, once it is decided. It has no \`id\` and is not replayed |
| \`fact-handling\` | \`{id, deviceId, handling}\`: what an operator has done about the event with this id, as in \`GET /facts\`. It has no \`id\` and is not replayed |
| \`rejection\` | A rejected report, as in the list of rejections. It has no \`id\` and is not replayed; one may come twice with the same \`rejectionId\`. For operators, and for API keys with the scope \`admin\` |
| \`device-erased\` | \`{deviceId}\` of a device that an operator has erased. Its \`id\` is a mark like a position's |
| \`heartbeat\` | \`{}\`, at once and every 4 s. Its \`id\` moves that mark on |
| \`gap\` | Log entries after the \`Last-Event-ID\` are gone, cannot be read, or the log is another one: the available ones follow |
| \`lagging\` | The connection is too slow and ends: reconnect with the last \`id\` |

A client that sends the last \`id\` it has seen in the header \`Last-Event-ID\`, as browsers do when
they connect again, misses no position and no erasure; a record may come twice with the same \`recordId\`.
Records of erased devices are not replayed.`

function parseEvents(text: string): ReadonlySet<ChosenEvent> | undefined {
  const names = text.split(',')
  const known = CHOSEN_EVENTS.filter((event) => names.includes(event))
  return known.length === names.length ? new Set(known) : undefined
}

/**
 * The position after which a returning client resumes, if it sends one.
 * @throws {ApiError} 400 for an id that is not from this stream.
 */
export function lastEventId(ctx: AdminContext): ReaderPosition | undefined {
  const mark = ctx.get('last-event-id')
  if (mark === '') return undefined
  const position = readMark(mark)
  if (position !== undefined) return position
  const message =
    'Last-Event-ID must be the id of an event of this stream, unchanged; leave it out to start with new events'
  throw invalidParams([{ field: 'Last-Event-ID', message }])
}
