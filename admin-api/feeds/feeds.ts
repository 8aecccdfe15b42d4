import type { Feed, FeedItem, FeedPage, Feeds } from '../../event-log/feeds.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import { FACT_TYPES, type DeviceFact } from '../../schemas/facts/facts.ts'
import { factView } from '../../schemas/facts/view.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { recordView } from '../../schemas/devices/read-models.ts'
import type { Store } from '../../store/store.ts'
import { FACT } from '../fact-views.ts'
import {
  runOnceAnswered,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import { callerId, deviceList, type Caller } from '../http/caller.ts'
import {
  countParameter,
  DEFAULT_LIMIT,
  LIMIT_PARAMETER,
  rangeParameters,
  textParameter,
} from '../http/query.ts'
import { choice, text, type InputOf } from '../http/rule.ts'
import { RECORD, TIME } from '../http/views.ts'
import { accessCheck } from '../http/access-check.ts'
import type { LiveStreams } from '../stream/live-streams.ts'

const LONGEST_WAIT_SECONDS = 55

const PARAMETERS = {
  after: text({
    max: 12_000,
    expected: 'after must be start, end, or the mark of a page of this feed, unchanged',
  }).described('Where to continue: `start`, `end`, or the `mark` of the previous page'),
  deviceId: textParameter('deviceId', 128).described('Only items of this device'),
  limit: LIMIT_PARAMETER.withDefault(DEFAULT_LIMIT),
  waitSeconds: countParameter('waitSeconds', { min: 0, max: LONGEST_WAIT_SECONDS })
    .withDefault(0)
    .described('How long to wait for the first item; meanwhile the call counts as a stream'),
  erasures: choice(['true', 'false'], { expected: 'erasures must be true or false' })
    .withDefault('false')
    .described('Whether erasures of devices are items too'),
}
const FACT_PARAMETERS = {
  ...PARAMETERS,
  from: rangeParameters('`decidedAt`').from,
  type: choice(FACT_TYPES, { expected: `type must be ${FACT_TYPES.join(' or ')}` }).described(
    'Only events of this type',
  ),
}
const POSITION_PARAMETERS = { ...PARAMETERS, from: rangeParameters('`receivedAt`').from }

/** How the items of a feed are selected and shown. */
type Shown<Event, Query> = {
  readonly feed: Feed<Event>
  readonly timeOf: (event: Event) => number
  readonly wants: (event: Event, query: Query) => boolean
  readonly view: (event: Event) => object
}

type Deps = {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly stopping: AbortSignal
  readonly streams: LiveStreams
  readonly feeds: Feeds
}

/** Facts and positions in the order of their logs, for programs that must miss nothing. */
export function feedRoutes({ feeds, ...deps }: Deps): AdminRoute[] {
  const facts: Shown<DeviceFact, InputOf<typeof FACT_PARAMETERS>> = {
    feed: feeds.facts,
    timeOf: ({ decidedAt }) => decidedAt,
    wants: (fact, { type }) => type === undefined || fact.type === type,
    view: factView,
  }
  const positions: Shown<PositionReported, InputOf<typeof POSITION_PARAMETERS>> = {
    feed: feeds.positions,
    timeOf: ({ receivedAt }) => receivedAt,
    wants: () => true,
    view: recordView,
  }
  const shared = {
    method: 'GET' as const,
    needs: 'viewer' as const,
    scope: 'positions:read' as const,
    compressed: true as const,
    errors: ['INVALID_PARAMS'] as const,
  }
  return [
    route({
      ...shared,
      path: '/feeds/facts',
      summary:
        'Events of devices in the order of their decision, for programs that must not miss any',
      description: DESCRIPTION,
      query: FACT_PARAMETERS,
      answer: { data: pageOf(FACT) },
      handle: serveFeed(facts, deps),
    }),
    route({
      ...shared,
      path: '/feeds/positions',
      summary: 'Positions in the order of the log, for programs that must not miss any',
      description: DESCRIPTION,
      query: POSITION_PARAMETERS,
      answer: { data: pageOf(RECORD) },
      handle: serveFeed(positions, deps),
    }),
  ]
}

function serveFeed<
  Event extends { readonly deviceId: string },
  Query extends InputOf<typeof POSITION_PARAMETERS>,
>(
  { feed, timeOf, wants, view }: Shown<Event, Query>,
  { streams, stopping, ...deps }: Omit<Deps, 'feeds'>,
) {
  const mayStillRead = accessCheck({ ...deps, sharedMs: streams.options.sharedCheckMs })

  return async function answer(
    ctx: AdminContext,
    caller: Caller,
    { query, endTurn }: Input<Query>,
  ): Promise<void> {
    const { limit, waitSeconds, erasures, deviceId, from = -Infinity } = query
    const { accountId } = caller
    const devices = deviceList(caller)
    const isOwn = (id: string) =>
      (deviceId === undefined || id === deviceId) && isListed(devices, id)
    const answered = new AbortController()
    runOnceAnswered(ctx, () => answered.abort())
    const read = (after: string, waitMs: number) =>
      feed.read({
        accountId,
        after,
        limit,
        waitMs,
        wants: (event) => timeOf(event) >= from && isOwn(event.deviceId) && wants(event, query),
        ...(erasures === 'true' && {
          wantsErasure: (erasure) => erasure.erasedAt >= from && isOwn(erasure.deviceId),
        }),
        signal: AbortSignal.any([answered.signal, stopping]),
      })

    let page = await read(await markOf(query.after, query.from), 0)
    if (page.items.length === 0 && page.end && !page.gap && waitSeconds > 0) {
      const leave = streams.takeSeat({ accountId, callerId: callerId(caller) })
      endTurn()
      try {
        page = await read(page.mark, waitSeconds * 1_000)
      } finally {
        leave()
      }
      if (!(await mayStillRead(ctx, caller))) {
        throw new ApiError('UNAUTHORIZED', 'access has been revoked or has expired')
      }
    }
    succeed(ctx, pageView(page))
  }

  /** @throws {ApiError} 400 for a text that is not a mark of this feed. */
  async function markOf(after: string | undefined, from: number | undefined): Promise<string> {
    if (after === undefined) return feed.markAt(from ?? 'start')
    if (after === 'start' || after === 'end') return feed.markAt(after)
    if (feed.isMark(after)) return after
    const message = 'after must be start, end, or the mark of a page of this feed, unchanged'
    throw invalidParams([{ field: 'after', message }])
  }

  function pageView({ items, mark, end, gap }: FeedPage<Event>) {
    return { items: items.map(itemView), mark, end, ...(gap && { gap }) }
  }

  function itemView(item: FeedItem<Event>): object {
    if (item.kind === 'event') return view(item.event)
    const { deviceId, erasedAt } = item.event
    return { type: 'device.erased', deviceId, erasedAt: isoTime(erasedAt) }
  }
}

function pageOf(item: JsonSchema): JsonSchema {
  return objectOf(
    {
      items: { type: 'array', items: { anyOf: [item, ERASURE] } },
      mark: { type: 'string', description: 'Send it as `after` to continue' },
      end: { type: 'boolean', description: 'Whether the end of the log has been reached' },
      gap: {
        type: 'boolean',
        description:
          'True if items after the given mark are no longer in the log; otherwise absent',
      },
    },
    { title: `${String(item['title'])}FeedPage`, optional: ['gap'] },
  )
}

const ERASURE = objectOf(
  {
    type: { type: 'string', enum: ['device.erased'] },
    deviceId: { type: 'string' },
    erasedAt: TIME,
  },
  {
    title: 'ErasedDevice',
    description: 'Everything received earlier about the device must be deleted',
  },
)

const DESCRIPTION = `
Oldest first, in order per device. Start with \`after=start\`, \`after=end\` or a time (\`from\`), and continue with the
\`mark\` of each page, which is valid after restarts and on every instance: nothing is missed, though an item may
come twice, with the same id. While \`end\` is false, a page may be empty although more follows, because a call reads at
most 50 000 log entries. Imported positions are omitted, as are items of erased devices.
`.trim()
