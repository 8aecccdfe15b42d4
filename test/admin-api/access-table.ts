import { randomUUID } from 'node:crypto'
import type { AdminRoute } from '../../admin-api/http/admin-route.ts'
import { secretHash } from '../../schemas/access/api-key.ts'
import { newShareToken } from '../../schemas/access/random-secrets.ts'
import { factId } from '../../schemas/facts/facts.ts'
import type { Scope } from '../../store/keys.ts'
import { newSubscription } from '../contracts/store-subscriptions.ts'
import { eventually } from '../eventually.ts'
import { T0 } from '../samples.ts'
import { CHEAP_HASH, PASSWORD, type AdminHarness } from './admin-harness.ts'

type Body = Readonly<Record<string, unknown>>

export type Expected = {
  readonly needs: AdminRoute['needs']
  readonly scope?: Scope
  /** The path of an object of account acc-1. */
  readonly path?: string | (() => string)
  readonly body?: Body | (() => Body)
  /** Recreates the object of the call, which an earlier call may have removed. */
  readonly before?: (harness: AdminHarness) => Promise<unknown>
  /** The status for an authorised caller. */
  readonly status?: number
  /** The status for the admin of another account. */
  readonly stranger: number
}

const GEOFENCE = {
  name: 'Depot',
  shape: { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 },
} as const
const SUBSCRIPTION = {
  name: 'Office',
  source: 'facts',
  hours: { days: [1], from: '08:00', to: '17:00', zone: 'UTC' },
  target: { kind: 'slack', url: 'https://example.org/hook' },
} as const
const RULE = { name: 'Parked', when: { stopped: true } } as const

/** Every call of the API and its access, written down a second time. */
export const EXPECTED: Record<string, Expected> = {
  'POST /session': {
    needs: 'nobody',
    body: { password: 'wrong' },
    status: 401,
    stranger: 401,
  },
  'GET /session': { needs: 'session', stranger: 200 },
  'DELETE /session': { needs: 'session', stranger: 200 },
  'POST /session/password': {
    needs: 'session',
    body: { current: PASSWORD, next: 'quite another long password' },
    before: resetPassword,
    stranger: 200,
  },
  'GET /operators': { needs: 'admin', stranger: 200 },
  'POST /operators': {
    needs: 'admin session',
    body: () => ({ email: newEmail(), password: PASSWORD, role: 'viewer' }),
    status: 201,
    stranger: 201,
  },
  'PATCH /operators/:id': {
    needs: 'admin session',
    path: '/operators/operator-of-acc-1',
    body: { role: 'viewer' },
    before: createOperator,
    stranger: 404,
  },
  'DELETE /operators/:id': {
    needs: 'admin session',
    path: '/operators/operator-of-acc-1',
    before: createOperator,
    stranger: 404,
  },
  'GET /accounts': { needs: 'platform', stranger: 403 },
  'POST /accounts': {
    needs: 'platform',
    body: () => ({ name: 'Tugs', admin: { email: newEmail(), password: PASSWORD } }),
    status: 201,
    stranger: 403,
  },
  'PATCH /accounts/:id': {
    needs: 'platform',
    path: '/accounts/acc-2',
    body: { suspended: false },
    stranger: 403,
  },
  'GET /audit': { needs: 'admin', stranger: 200 },
  'POST /keys': { needs: 'admin', body: { name: 'gateway' }, status: 201, stranger: 201 },
  'GET /keys': { needs: 'viewer', stranger: 200 },
  'GET /keys/:id': { needs: 'viewer', path: '/keys/key-of-acc-1', stranger: 404 },
  'PATCH /keys/:id': {
    needs: 'admin',
    path: '/keys/key-of-acc-1',
    body: { name: 'gate' },
    stranger: 404,
  },
  'POST /keys/:id/rotate': {
    needs: 'admin',
    path: '/keys/rotated-of-acc-1/rotate',
    stranger: 404,
  },
  'POST /keys/:id/revoke': { needs: 'admin', path: '/keys/key-of-acc-1/revoke', stranger: 404 },
  'POST /keys/identify': {
    needs: 'admin',
    body: () => ({ key: pasted }),
    before: pasteKey,
    stranger: 404,
  },
  // Nothing listens at its target.
  'POST /test-report': {
    needs: 'admin',
    body: () => ({ key: pasted, report: { deviceId: 'device-of-acc-1' } }),
    before: pasteKey,
    status: 503,
    stranger: 404,
  },
  'GET /devices': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'GET /devices/summary': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'GET /devices/:deviceId': {
    needs: 'viewer',
    scope: 'devices:read',
    path: '/devices/device-of-acc-1',
    stranger: 404,
  },
  'PATCH /devices/:deviceId': {
    needs: 'dispatcher',
    path: '/devices/device-of-acc-1',
    body: { name: 'Tug' },
    stranger: 404,
  },
  'GET /labels': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'POST /devices/labels': {
    needs: 'dispatcher',
    // The response names devices as the request does.
    body: { deviceIds: ['labelled'], add: ['label-of-acc-1'] },
    before: (harness) => harness.project({ deviceId: 'labelled' }),
    stranger: 200,
  },
  'DELETE /devices/:deviceId': {
    needs: 'admin',
    path: () => `/devices/erased-${erasures}-of-acc-1`,
    before: reportOnceMore,
    status: 202,
    stranger: 404,
  },
  'GET /devices/:deviceId/positions': {
    needs: 'viewer',
    scope: 'positions:read',
    path: '/devices/device-of-acc-1/positions',
    stranger: 404,
  },
  'GET /devices/:deviceId/track': {
    needs: 'viewer',
    scope: 'positions:read',
    path: '/devices/device-of-acc-1/track',
    stranger: 404,
  },
  'GET /devices/:deviceId/trips': {
    needs: 'viewer',
    scope: 'positions:read',
    path: '/devices/device-of-acc-1/trips',
    stranger: 404,
  },
  'GET /visits': {
    needs: 'viewer',
    scope: 'positions:read',
    // It names no area.
    status: 400,
    stranger: 400,
  },
  'POST /imports': { needs: 'dispatcher session', status: 201, stranger: 201 },
  'POST /imports/:id/positions': {
    needs: 'dispatcher session',
    path: '/imports/unknown/positions',
    body: { reports: [{ deviceId: 'device-of-acc-1' }] },
    status: 404,
    stranger: 404,
  },
  'DELETE /imports/:id': {
    needs: 'dispatcher session',
    path: '/imports/unknown',
    status: 404,
    stranger: 404,
  },
  'GET /places/search': {
    needs: 'viewer',
    scope: 'positions:read',
    stranger: 200,
  },
  'GET /places': {
    needs: 'viewer',
    scope: 'positions:read',
    stranger: 200,
  },
  'GET /devices/:deviceId/activity': {
    needs: 'viewer',
    scope: 'positions:read',
    path: '/devices/device-of-acc-1/activity',
    stranger: 404,
  },
  'GET /positions/:recordId': {
    needs: 'viewer',
    scope: 'positions:read',
    path: '/positions/01KDVN9C00ACCESS0000000001',
    stranger: 404,
  },
  'POST /shares': {
    needs: 'dispatcher',
    body: { name: 'Tugs', deviceIds: ['device-of-acc-1'], expiresAt: new Date(T0 + 7_200_000) },
    status: 201,
    stranger: 400,
  },
  'GET /shares': { needs: 'dispatcher', stranger: 200 },
  'DELETE /shares/:id': {
    needs: 'dispatcher',
    path: '/shares/share-of-acc-1',
    before: createShare,
    stranger: 404,
  },
  'GET /geofences': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'GET /geofences/names': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'POST /geofences': { needs: 'dispatcher', body: GEOFENCE, status: 201, stranger: 201 },
  'POST /geofences/import': {
    needs: 'dispatcher',
    body: { type: 'FeatureCollection', features: [{}] },
    stranger: 200,
  },
  'GET /geofences/:id': {
    needs: 'viewer',
    scope: 'devices:read',
    path: () => `/geofences/${geofenceId}`,
    before: createGeofence,
    stranger: 404,
  },
  'GET /geofences/:id/devices': {
    needs: 'viewer',
    scope: 'devices:read',
    path: () => `/geofences/${geofenceId}/devices`,
    before: createGeofence,
    stranger: 404,
  },
  'PATCH /geofences/:id': {
    needs: 'dispatcher',
    path: () => `/geofences/${geofenceId}`,
    body: { name: 'Yard' },
    before: createGeofence,
    stranger: 404,
  },
  'DELETE /geofences/:id': {
    needs: 'dispatcher',
    path: () => `/geofences/${geofenceId}`,
    before: createGeofence,
    stranger: 404,
  },
  'PUT /geofences/by-external-id/:externalId': {
    needs: 'dispatcher',
    path: '/geofences/by-external-id/site',
    body: GEOFENCE,
    stranger: 200,
  },
  'GET /rules': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'POST /rules': {
    needs: 'dispatcher',
    body: RULE,
    before: deleteRules,
    status: 201,
    stranger: 201,
  },
  'GET /rules/:id': {
    needs: 'viewer',
    scope: 'devices:read',
    path: () => `/rules/${ruleId}`,
    before: createRule,
    stranger: 404,
  },
  'GET /rules/:id/devices': {
    needs: 'viewer',
    scope: 'devices:read',
    path: () => `/rules/${ruleId}/devices`,
    before: createRule,
    stranger: 404,
  },
  'PATCH /rules/:id': {
    needs: 'dispatcher',
    path: () => `/rules/${ruleId}`,
    body: { name: 'Slow' },
    before: createRule,
    stranger: 404,
  },
  'DELETE /rules/:id': {
    needs: 'dispatcher',
    path: () => `/rules/${ruleId}`,
    before: createRule,
    stranger: 404,
  },
  'GET /subscriptions': { needs: 'viewer', scope: 'devices:read', stranger: 200 },
  'POST /subscriptions': {
    needs: 'dispatcher',
    body: SUBSCRIPTION,
    before: deleteSubscriptions,
    status: 201,
    stranger: 201,
  },
  'GET /subscriptions/:id': {
    needs: 'viewer',
    scope: 'devices:read',
    path: () => `/subscriptions/${subscriptionId}`,
    before: createSubscription,
    stranger: 404,
  },
  'PATCH /subscriptions/:id': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}`,
    body: { name: 'Other', hours: SUBSCRIPTION.hours },
    before: createSubscription,
    stranger: 404,
  },
  'DELETE /subscriptions/:id': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}`,
    before: createSubscription,
    stranger: 404,
  },
  'POST /subscriptions/:id/test': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/test`,
    before: createTestedSubscription,
    stranger: 404,
  },
  'POST /subscriptions/:id/rotate': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/rotate`,
    // Only webhooks have a secret.
    before: createSubscription,
    status: 409,
    stranger: 404,
  },
  'POST /subscriptions/:id/enable': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/enable`,
    before: createSubscription,
    stranger: 404,
  },
  'POST /subscriptions/:id/rewind': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/rewind`,
    body: { to: 'start' },
    before: createSubscription,
    stranger: 404,
  },
  'POST /subscriptions/:id/resend': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/resend`,
    body: { ids: ['01KDVDNA00Z6JGGE5XXD5XW7P3'] },
    before: createSubscription,
    stranger: 404,
  },
  'GET /subscriptions/:id/deliveries': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/deliveries`,
    before: createSubscription,
    stranger: 404,
  },
  'GET /subscriptions/:id/deliveries/:number': {
    needs: 'dispatcher',
    path: () => `/subscriptions/${subscriptionId}/deliveries/1`,
    // It has no deliveries.
    before: createSubscription,
    status: 404,
    stranger: 404,
  },
  'GET /shared': { needs: 'share', stranger: 404 },
  'GET /shared/stream': { needs: 'share', stranger: 404 },
  'GET /rejections/summary': { needs: 'viewer', stranger: 200 },
  'GET /system/history': { needs: 'viewer', stranger: 200 },
  'GET /reports/devices': { needs: 'viewer', scope: 'positions:read', stranger: 200 },
  'GET /facts': { needs: 'viewer', scope: 'positions:read', stranger: 200 },
  'POST /facts/:id/take': {
    needs: 'dispatcher',
    path: () => `/facts/${alarmId}/take`,
    before: raiseAlarm,
    stranger: 404,
  },
  'POST /facts/:id/release': {
    needs: 'dispatcher',
    path: () => `/facts/${alarmId}/release`,
    before: raiseAlarm,
    stranger: 404,
  },
  'POST /facts/:id/close': {
    needs: 'dispatcher',
    path: () => `/facts/${alarmId}/close`,
    body: { note: 'False alarm' },
    before: raiseAlarm,
    stranger: 404,
  },
  'GET /feeds/facts': { needs: 'viewer', scope: 'positions:read', stranger: 200 },
  'GET /feeds/positions': { needs: 'viewer', scope: 'positions:read', stranger: 200 },
  'GET /rejections': { needs: 'viewer', stranger: 200 },
  'GET /console': { needs: 'viewer', stranger: 200 },
  'GET /system': { needs: 'viewer', stranger: 200 },
  'GET /stream': { needs: 'viewer', scope: 'positions:read', stranger: 200 },
}

export function newEmail(): string {
  return `${randomUUID()}@example.org`
}

async function resetPassword({ store }: AdminHarness): Promise<void> {
  for (const accountId of ['acc-1', 'acc-2']) {
    for (const { id } of await store.pageOperators({ accountId, limit: 100 })) {
      await store.changeOperator({ accountId, operatorId: id, passwordHash: CHEAP_HASH })
    }
  }
}

/** Creates the same operator again if it already exists. */
async function createOperator(harness: AdminHarness): Promise<void> {
  await harness.createOperator({ id: 'operator-of-acc-1', email: 'operator-of-acc-1@example.org' })
}

async function createShare({ store }: AdminHarness): Promise<void> {
  const share = {
    id: 'share-of-acc-1',
    accountId: 'acc-1',
    name: 'of-acc-1',
    devices: [],
    trailMinutes: 0,
    createdAt: T0,
    expiresAt: T0 + 7_200_000,
  }
  await store.createShare(share, secretHash(newShareToken()))
}

let pasted = ''

async function pasteKey(harness: AdminHarness): Promise<void> {
  pasted = (await harness.createKey({ name: 'pasted-of-acc-1' })).secret
}

let erasures = 0

/** A device can be erased only once: each call uses another device. */
async function reportOnceMore(harness: AdminHarness): Promise<void> {
  erasures += 1
  await harness.project({
    deviceId: `erased-${erasures}-of-acc-1`,
    recordId: `01KDVN9C00ERASED${String(erasures).padStart(10, '0')}`,
  })
}

/** The id of a deleted subscription stays taken for a day. */
let geofenceId = ''
let subscriptionId = ''

async function createSubscription(harness: AdminHarness): Promise<void> {
  await deleteSubscriptions(harness)
  const given = newSubscription({ accountId: 'acc-1', target: SUBSCRIPTION.target })
  subscriptionId = given.id
  await harness.store.createSubscription(given)
}

/** Answers its next test immediately, like a deliverer. */
async function createTestedSubscription(harness: AdminHarness): Promise<void> {
  await createSubscription(harness)
  const query = { accountId: 'acc-1', id: subscriptionId }
  const outcome = { status: 200, milliseconds: 1, answer: '' }
  const answer = async () => {
    const found = await harness.store.changeSubscription(query, (one) => {
      const { test } = one.progress
      if (test === undefined) return undefined
      return { ...one, progress: { ...one.progress, test: { ...test, outcome } } }
    })
    return found !== 'refused'
  }
  eventually(answer, { withinMs: 2_000 }).catch(() => undefined)
}

async function deleteSubscriptions(harness: AdminHarness): Promise<void> {
  const accountId = 'acc-1'
  for (const { id } of await harness.store.pageSubscriptions({ accountId, limit: 100 })) {
    await harness.store.deleteSubscription({ accountId, id, deletedAt: T0 })
  }
}

let ruleId = ''

async function createGeofence({ store }: AdminHarness): Promise<void> {
  geofenceId = `geofence-${randomUUID()}-of-acc-1`
  const fields = { confirmSeconds: 0, enabled: true, createdAt: T0 }
  await store.createGeofences([{ ...GEOFENCE, ...fields, id: geofenceId, accountId: 'acc-1' }])
}

let alarmId = ''
let alarms = 0

/** On a separate device, whose state counts its facts. */
async function raiseAlarm({ store }: AdminHarness): Promise<void> {
  alarms += 1
  const device = { accountId: 'acc-1', deviceId: `alarm-${alarms}` }
  const fields = { sequence: 1, at: T0, decidedAt: T0, inside: [], alarm: 'sos', late: false }
  const fact = { ...device, ...fields, type: 'alarm.reported' } as const
  alarmId = factId(fact, '')
  const judged = {
    state: { sequence: 1, applied: {}, due: null },
    facts: [{ ...fact, id: alarmId }],
  }
  await store.judgeFacts({ devices: [{ ...device, judge: () => judged }] })
}

async function createRule(harness: AdminHarness): Promise<void> {
  await deleteRules(harness)
  ruleId = `rule-${randomUUID()}-of-acc-1`
  const fields = { forSeconds: 0, enabled: true, createdAt: T0 }
  await harness.store.createRule({ ...RULE, ...fields, id: ruleId, accountId: 'acc-1' })
}

async function deleteRules({ store }: AdminHarness): Promise<void> {
  const accountId = 'acc-1'
  for (const { id } of await store.pageRules({ accountId, limit: 200 })) {
    await store.deleteRule({ accountId, id, deletedAt: T0 })
  }
}
