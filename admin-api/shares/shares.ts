import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { jsonSchemaOf } from '../../runtime/openapi/json-schema.ts'
import { secretHash } from '../../schemas/access/api-key.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { newShareToken } from '../../schemas/access/random-secrets.ts'
import type { Share } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { pageOf, listById } from '../http/answer-page.ts'
import type { Caller } from '../http/caller.ts'
import { nameRule } from '../http/name-rule.ts'
import { PAGE_PARAMETERS } from '../http/query.ts'
import { recordAction } from '../http/record-action.ts'
import { flag, list, parsedValue, text, valuesOf, wholeNumber, type InputOf } from '../http/rule.ts'
import { isoTime } from '../http/views.ts'
import {
  listSharedNames,
  shareTitle,
  shareTitles,
  SHARE,
  SHARE_WITH_TOKEN,
  shareView,
} from './share-view.ts'

const LONGEST_MS = 30 * 24 * 60 * 60 * 1_000
const MOST_DEVICES = 50
const DEVICES_EXPECTED = `deviceIds must be a list of 1 to ${MOST_DEVICES} different ids of devices that have reported`

const NAMES_EXPECTED =
  'names must be an object that has, for some of the deviceIds, the name that the link shows'
const GIVEN_NAME = nameRule('each of names')

const NEW_SHARE = {
  name: nameRule('name')
    .nullIsAbsence()
    .described('Without a name the link is called after its devices'),
  deviceIds: list(text({ max: 128, expected: DEVICES_EXPECTED }), {
    max: MOST_DEVICES,
    expected: DEVICES_EXPECTED,
  }).required(),
  names: valuesOf(GIVEN_NAME, {
    max: MOST_DEVICES,
    expected: NAMES_EXPECTED,
    openapi: {
      type: 'object',
      additionalProperties: jsonSchemaOf(GIVEN_NAME.schema),
      maxProperties: MOST_DEVICES,
    },
  }).described('Names of the devices on this link, by deviceId, instead of those of the account'),
  expiresAt: parsedValue({
    parse(text, now) {
      const time = parseIso8601(text)
      return time !== undefined && time > now && time <= now + LONGEST_MS ? time : undefined
    },
    expected: 'expiresAt must be an ISO 8601 date and time in the future, at most 30 days from now',
    openapi: { type: 'string', format: 'date-time' },
  }).required(),
  trailMinutes: wholeNumber({
    min: 0,
    max: 1_440,
    expected: 'trailMinutes must be a whole number from 0 to 1440',
  })
    .nullIsAbsence()
    .withDefault(0),
  showsNow: flag('showsNow')
    .nullIsAbsence()
    .withDefault(true)
    .described('Whether each device is shown at once, at its last known position'),
  showsStreets: flag('showsStreets')
    .nullIsAbsence()
    .withDefault(false)
    .described(
      'Whether the page of the link loads streets from OpenStreetMap, which then sees which area viewers look at',
    ),
}

/** Calls on shares: temporary links that show selected devices to people without an account. */
export function shareRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function create(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, InputOf<typeof NEW_SHARE>>,
  ): Promise<void> {
    const { accountId } = caller
    const { name, deviceIds, names = {}, expiresAt, trailMinutes, showsNow, showsStreets } = body
    const lives = await store.livesOf({ accountId, deviceIds })
    const knownDevices = await store.findDevices({ accountId, deviceIds })
    if (knownDevices.length < deviceIds.length) throw unknownDeviceError()
    if (Object.keys(names).some((deviceId) => !deviceIds.includes(deviceId))) {
      throw invalidParams([{ field: 'names', message: NAMES_EXPECTED }])
    }
    const lastRecords = new Map(
      knownDevices.map(({ status }) => [status.deviceId, status.lastPosition.recordId]),
    )
    const createdAt = clock.now()
    const id = ulid(createdAt, randomBytes(10))
    const devices = deviceIds.map((deviceId) => {
      const nameOnShare = Object.hasOwn(names, deviceId) ? names[deviceId] : undefined
      const life = lives.get(deviceId)
      const lastKnown = showsNow ? lastRecords.get(deviceId) : undefined
      return {
        deviceId,
        ref: newRef(),
        ...(nameOnShare !== undefined && { name: nameOnShare }),
        ...(lastKnown !== undefined && { lastKnown }),
        ...(life !== undefined && { life }),
      }
    })
    const named = name === undefined ? {} : { name }
    const share: Share = {
      id,
      accountId,
      ...named,
      devices,
      trailMinutes,
      showsNow,
      showsStreets,
      createdAt,
      expiresAt,
    }
    const token = newShareToken()
    if (!(await store.createShare(share, secretHash(token)))) throw unknownDeviceError()
    const title = shareTitle(share, await listSharedNames(share, store))
    const details = { name: title, deviceIds, trailMinutes, showsNow, showsStreets }
    const ends = { expiresAt: isoTime(expiresAt) }
    await record(ctx, caller, 'share.created', share, { ...details, ...ends })
    const message = 'save the token: it is shown only once'
    succeed(ctx, { ...shareView(share, title, createdAt), token }, { status: 201, message })
  }

  async function revoke(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const share = await store.deleteShare({ accountId, shareId: pathParameter(ctx, 'id') })
    if (share === undefined) throw new ApiError('NOT_FOUND', 'there is no share with this id')
    const name = shareTitle(share, await listSharedNames(share, store))
    await record(ctx, caller, 'share.revoked', share, { name })
    succeed(ctx, null, { message: 'the link no longer shows anything' })
  }

  function record(
    ctx: AdminContext,
    caller: Caller,
    action: string,
    { id, devices }: Share,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const subject = { kind: 'share', id } as const
    const lives = new Map(devices.map(({ deviceId, life }) => [deviceId, life]))
    return recordAction(ctx, caller, { action, subject, details, lives }, { store, clock })
  }

  return [
    route({
      method: 'POST',
      path: '/shares',
      summary: 'Creates a link that shows some devices; its token is shown only in this response',
      description: DESCRIPTION,
      needs: 'dispatcher',
      body: NEW_SHARE,
      bodyExample: { name: 'Ferry', deviceIds: ['tracker-7'], expiresAt: '2026-01-31T12:30:00Z' },
      answer: { status: 201, data: SHARE_WITH_TOKEN },
      handle: create,
    }),
    route({
      method: 'GET',
      path: '/shares',
      summary: 'Lists shares, newest first; expired ones for 7 more days',
      needs: 'dispatcher',
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(SHARE) },
      handle: listById({
        name: 'shares',
        async page(query) {
          const shares = await store.pageShares(query)
          const titles = await shareTitles(shares, store)
          return shares.map((share) => ({ ...share, title: titles.get(share.id) ?? '' }))
        },
        view: ({ title, ...share }) => shareView(share, title, clock.now()),
      }),
    }),
    {
      method: 'DELETE',
      path: '/shares/:id',
      summary: 'Revokes a share; its link stops working',
      needs: 'dispatcher',
      answer: {},
      handle: revoke,
    },
  ]
}

const DESCRIPTION = `
Everybody who has the token sees where these devices are until \`expiresAt\`, at most 30 days from now, with a
trail of \`trailMinutes\`: no ids, no account data, and nothing received or recorded (\`timestamp\`) before the share was
created, except one last known position of each device. With \`"showsNow":false\` that is omitted too, and
a device appears once it has reported. An erased device leaves its shares for good. Open streams end within 5 s of a change.
`.trim()

function unknownDeviceError(): ApiError {
  return invalidParams([{ field: 'deviceIds', message: DEVICES_EXPECTED }])
}

function newRef(): string {
  return randomBytes(9).toString('base64url')
}
