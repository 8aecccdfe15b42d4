import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import type { MapConfig } from '../../runtime/config/console-variables.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Share } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext, AdminRoute, JsonSchema } from '../http/admin-route.ts'
import { shareInForce, type ShareCaller } from '../http/share-callers.ts'
import { isoTime, TIME } from '../http/views.ts'
import { mapView, MAPS } from '../console.ts'
import type { PlaceNames } from '../places/place-names.ts'
import type { LiveStreams } from '../stream/live-streams.ts'
import { isSince, SHARED_DEVICE, sharedDevices, sharedPosition } from './shared-devices.ts'
import { listSharedNames, shareTitle } from './share-view.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

/** For this long, viewers of a share get the same response: reading trails takes time. */
const SAME_ANSWER_MS = 2_000
const ANSWERS_REMEMBERED = 100

/** The routes for people with a share's link. */
export function sharedRoutes({
  store,
  clock,
  logger,
  streams,
  maps,
  placeNames,
}: {
  store: Store
  clock: Clock
  logger: Logger
  streams: LiveStreams
  maps: readonly MapConfig[]
  placeNames: PlaceNames
}): AdminRoute[] {
  const { shareCheckEveryMs, sharedCheckMs } = streams.options
  const answers = new LRUCache<string, Promise<object>>({
    max: ANSWERS_REMEMBERED,
    ttl: SAME_ANSWER_MS,
  })
  const shares = new LRUCache<string, Promise<Share | undefined>>({
    max: 10_000,
    ttl: sharedCheckMs,
  })

  async function show(ctx: AdminContext, { share }: ShareCaller): Promise<void> {
    // The response changes once a device has left the share.
    const key = `${share.id} ${share.devices.length}`
    let answer = answers.get(key)
    if (answer === undefined) {
      answer = view(share)
      answers.set(key, answer)
      answer.catch(() => answers.delete(key))
    }
    succeed(ctx, await answer)
  }

  async function view(share: Share): Promise<object> {
    const { expiresAt, trailMinutes, showsStreets = false } = share
    const now = clock.now()
    const names = await listSharedNames(share, store)
    const nameOf = await placeNames.ofAnyone()
    const items = await sharedDevices(share, names, { store, now, nameOf })
    const name = shareTitle(share, names)
    return {
      name,
      expiresAt: isoTime(expiresAt),
      trailMinutes,
      asOf: isoTime(now),
      items,
      showsStreets,
      maps: maps.map(mapView).filter(({ seenBy }) => seenBy === null || showsStreets),
    }
  }

  async function follow(ctx: AdminContext, caller: ShareCaller): Promise<void> {
    const { share, tokenHash } = caller
    const { accountId } = share
    const names = await listSharedNames(share, store)
    const nameOf = await placeNames.ofAnyoneAtOnce()
    const before = devicesOf(share)
    await streams.open(ctx, {
      showing: {
        accountId,
        events: new Set(['position']),
        wants: ({ deviceId = '', ...subject }) =>
          subject.accountId === accountId && names.has(deviceId),
        isShown: (position) => isSince(share, position),
        record: ({ deviceId, ...position }) =>
          sharedPosition(names.get(deviceId) ?? { ref: '', name: '' }, position, nameOf(position)),
        resumable: false,
      },
      seat: { linksOfAccount: accountId },
      checkEveryMs: shareCheckEveryMs,
      async mayStillRead() {
        try {
          const current = await currentShare(tokenHash)
          return (
            current !== undefined &&
            devicesOf(current) === before &&
            clock.now() < current.expiresAt
          )
        } catch (error) {
          logger.debug({ err: error }, 'could not check the reader of a share')
          return clock.now() < share.expiresAt
        }
      },
    })
  }

  /** One look-up serves all readers of a share. */
  function currentShare(tokenHash: Uint8Array): Promise<Share | undefined> {
    const key = Buffer.from(tokenHash).toString('base64')
    const known = shares.get(key)
    if (known !== undefined) return known
    const share = shareInForce(tokenHash, { store, clock })
    shares.set(key, share)
    share.catch(() => shares.delete(key))
    return share
  }

  return [
    {
      method: 'GET',
      path: '/shared',
      summary: 'Shows where the devices of a share are',
      description: 'An unknown, expired or revoked share is a 404.',
      needs: 'share',
      compressed: true,
      answer: { data: SHARED },
      handle: show,
    },
    {
      method: 'GET',
      path: '/shared/stream',
      summary: 'Streams the live positions of a share’s devices',
      description: DESCRIPTION,
      needs: 'share',
      answer: {
        content: { 'text/event-stream': { type: 'string', description: 'Server-Sent Events' } },
      },
      handle: follow,
    },
  ]
}

const DESCRIPTION = `Server-Sent Events: \`position\` with a device as in the call for the share, without its
trail, and \`heartbeat\` every 4 s. They have no \`id\`: after a lost connection, request the share
again. The stream ends with the share, or when a device leaves it.`

function devicesOf({ devices }: Share): string {
  return devices.map(({ ref }) => ref).join()
}

const SHARED: JsonSchema = objectOf(
  {
    name: { type: 'string' },
    expiresAt: TIME,
    trailMinutes: { type: 'integer' },
    asOf: { ...TIME, description: 'For the ages of the positions' },
    items: { type: 'array', items: SHARED_DEVICE },
    showsStreets: {
      type: 'boolean',
      description:
        'Whether its page loads maps with `seenBy` without asking; if not, `maps` has none',
    },
    maps: MAPS,
  },
  { title: 'Shared' },
)
