import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { maskApiKeys } from '../../schemas/access/keys-in-text.ts'
import { MOST_LABELS } from '../../schemas/devices/labels.ts'
import { DEVICES_LABELLED } from '../../store/back-office.ts'
import type { LabelledDevice } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { answerPage, pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor } from '../http/cursor.ts'
import { LIMIT_PARAMETER, PAGE_PARAMETERS, type PageQuery } from '../http/query.ts'
import { recordAction } from '../http/record-action.ts'
import { list, text, type InputOf } from '../http/rule.ts'
import { LABELS, labelsRule } from './label-rules.ts'

const MOST_DEVICES = 1_000
const MOST_LABELS_SHOWN = 1_000
const DEVICES_EXPECTED = `deviceIds must be a list of 1 to ${MOST_DEVICES} different deviceIds`

const LABEL_PARAMETERS = {
  ...PAGE_PARAMETERS,
  // Few accounts reach this limit, and operators want the complete list.
  limit: LIMIT_PARAMETER.withDefault(MOST_LABELS_SHOWN),
}

const CHANGE = {
  deviceIds: list(text({ max: 128, expected: DEVICES_EXPECTED }), {
    max: MOST_DEVICES,
    expected: DEVICES_EXPECTED,
  }).required(),
  add: labelsRule('add'),
  remove: labelsRule('remove'),
}

const CHANGE_DESCRIPTION = `
Adds the labels of \`add\` to each device and removes those of \`remove\`. Each device succeeds or fails
separately: a device that does not exist, or would have more than ${MOST_LABELS} labels, does not affect the others.
Repeating the call changes nothing.
`.trim()

/** The labels of an account's devices, and joint changes of many devices' labels. */
export function labelRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function count(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor } }: Input<PageQuery>,
  ): Promise<void> {
    const devices = deviceList(caller)
    const { accountId } = caller
    const list = { name: 'labels', accountId }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const items = await store.countLabels({
      accountId,
      limit: limit + 1,
      ...(after !== undefined && { after }),
      ...(devices !== undefined && { devices }),
    })
    await answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ label }) => [label],
      view: (item) => item,
    })
  }

  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body: { deviceIds, add = [], remove = [] } }: Input<object, InputOf<typeof CHANGE>>,
  ): Promise<void> {
    requireLabels({ add, remove })
    const { accountId } = caller
    const lives = await store.livesOf({ accountId, deviceIds })
    const devices = await store.findDevices({ accountId, deviceIds })
    const known = new Set(devices.map(({ status }) => status.deviceId))
    const labelled = await store.changeLabels({
      accountId,
      deviceIds: deviceIds.filter((deviceId) => known.has(deviceId)),
      lives,
      changedAt: clock.now(),
      add,
      remove,
    })
    const changed = labelled.filter(({ outcome }) => outcome === 'changed')
    if (changed.length > 0) {
      const action = {
        action: DEVICES_LABELLED,
        subject: { kind: 'devices', id: accountId },
        details: {
          deviceIds: changed.map(({ deviceId }) => deviceId),
          ...(add.length > 0 && { add }),
          ...(remove.length > 0 && { remove }),
        },
        lives: new Map(changed.map(({ deviceId }) => [deviceId, lives.get(deviceId)])),
      } as const
      await recordAction(ctx, caller, action, { store, clock })
    }
    const outcomes = new Map(labelled.map((device) => [device.deviceId, device]))
    const results = deviceIds.map((deviceId) => {
      const shown = maskApiKeys(deviceId, { cut: false })
      return resultView(shown, outcomes.get(deviceId))
    })
    const refused = results.filter((result) => 'error' in result).length
    succeed(ctx, { changed: changed.length, refused, results })
  }

  return [
    route({
      method: 'GET',
      path: '/labels',
      summary: 'Lists the labels of devices, sorted, with the number of devices for each',
      needs: 'viewer',
      scope: 'devices:read',
      query: LABEL_PARAMETERS,
      answer: { data: pageOf(LABEL_COUNT) },
      handle: count,
    }),
    route({
      method: 'POST',
      path: '/devices/labels',
      summary: 'Adds labels to many devices, and removes others',
      description: CHANGE_DESCRIPTION,
      needs: 'dispatcher',
      body: CHANGE,
      bodyExample: { deviceIds: ['van-07', 'van-08'], add: ['night shift'], remove: ['spare'] },
      bodyLimitBytes: 1024 * 1024,
      answer: { data: LABEL_CHANGES },
      handle: change,
    }),
  ]
}

/** @throws {ApiError} 400 for a change without labels, or with a label both added and removed. */
function requireLabels({ add, remove }: { add: readonly string[]; remove: readonly string[] }) {
  if (add.length + remove.length === 0) {
    const message = 'add or remove must name a label'
    throw invalidParams([{ field: 'add', message }])
  }
  const both = add.find((label) => remove.includes(label))
  if (both === undefined) return
  const message = `remove must not name ${JSON.stringify(both)}, which add names too`
  throw invalidParams([{ field: 'remove', message }])
}

function resultView(deviceId: string, device: LabelledDevice | undefined) {
  if (device === undefined || device.outcome === 'erased') {
    return { deviceId, error: 'NOT_FOUND', message: 'there is no device with this deviceId' }
  }
  const { outcome, labels } = device
  if (outcome !== 'too many') return { deviceId, labels }
  const message = `it would have more than ${MOST_LABELS} labels: remove some first`
  return { deviceId, error: 'CONFLICT', message }
}

const LABEL_COUNT = objectOf(
  { label: { type: 'string' }, devices: { type: 'integer', minimum: 1 } },
  { title: 'LabelCount' },
)

const LABEL_CHANGES = objectOf(
  {
    changed: { type: 'integer', description: 'Devices whose labels have changed' },
    refused: { type: 'integer', description: 'Number of devices with an error' },
    results: {
      type: 'array',
      description: 'In the order of `deviceIds`: the device’s current labels, or an error',
      items: objectOf(
        {
          deviceId: { type: 'string' },
          labels: LABELS,
          error: { enum: ['NOT_FOUND', 'CONFLICT'] },
          message: { type: 'string' },
        },
        { title: 'LabelChange', optional: ['labels', 'error', 'message'] },
      ),
    },
  },
  { title: 'LabelChanges' },
)
