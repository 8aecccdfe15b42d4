import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { RuleContent } from '../../schemas/definitions/device-rule.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Store } from '../../store/store.ts'
import { answerDevicesWith, DEVICES_WITH } from '../devices/devices-with.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { listById, pageOf } from '../http/answer-page.ts'
import { requireChange } from '../http/body.ts'
import type { Caller } from '../http/caller.ts'
import { PAGE_PARAMETERS, type PageQuery } from '../http/query.ts'
import { selectionAudit } from '../http/selection-audit.ts'
import {
  NEW_RULE,
  requireLongSilence,
  requireReachable,
  requireRule,
  requireStoredRule,
  RULE,
  RULE_CHANGES,
  ruleView,
  withRuleChange,
  type RuleChange,
  type RuleInput,
} from './rule-fields.ts'

const BODY_LIMIT_BYTES = 1024 * 1024

/** Conditions of devices that become facts when they begin and end. */
export function ruleRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const { livesOf, record } = selectionAudit('rule', { store, clock })

  async function list(ctx: AdminContext, caller: Caller, input: Input<PageQuery>): Promise<void> {
    await listById({
      name: 'rules',
      page: (query) => store.pageRules(query),
      view: (rule) => ruleView(rule, caller),
    })(ctx, caller, input)
  }

  async function create(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, RuleInput>,
  ): Promise<void> {
    requireLongSilence(body)
    requireReachable(body)
    const { accountId } = caller
    const lives = await livesOf(caller, body)
    const createdAt = clock.now()
    const id = ulid(createdAt, randomBytes(10))
    const rule = requireStoredRule(await store.createRule({ ...body, id, accountId, createdAt }))
    await record(ctx, caller, 'rule.created', { id, details: body, lives })
    succeed(ctx, ruleView(rule, caller), { status: 201 })
  }

  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    succeed(ctx, ruleView(requireRule(await store.findRule({ accountId, id })), caller))
  }

  async function listDevices(ctx: AdminContext, caller: Caller, { query }: Input<PageQuery>) {
    const id = pathParameter(ctx, 'id')
    requireRule(await store.findRule({ accountId: caller.accountId, id }))
    await answerDevicesWith(ctx, caller, { store, query, definition: { ruleId: id } })
  }

  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, RuleChange>,
  ): Promise<void> {
    requireChange(body, RULE_CHANGES)
    const { accountId } = caller
    const query = { accountId, id: pathParameter(ctx, 'id') }
    const before = requireRule(await store.findRule(query))
    const lives = await livesOf(caller, body)
    const next = (content: RuleContent) => {
      const changed = withRuleChange(content, body)
      requireLongSilence(changed)
      requireReachable(changed, content)
      return changed
    }
    const outcome = await store.changeRule({ ...query, changedAt: clock.now(), next })
    const rule = requireStoredRule(requireRule(outcome))
    if (rule.revision !== before.revision) {
      await record(ctx, caller, 'rule.changed', { id: query.id, details: { ...body }, lives })
    }
    succeed(ctx, ruleView(rule, caller))
  }

  async function remove(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    const { name } = requireRule(await store.deleteRule({ accountId, id, deletedAt: clock.now() }))
    await record(ctx, caller, 'rule.deleted', { id, details: { name } })
    succeed(ctx, null)
  }

  const scope = 'devices:read'
  return [
    route({
      method: 'GET',
      path: '/rules',
      summary: 'Lists rules, newest first',
      needs: 'viewer',
      scope,
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(RULE) },
      handle: list,
    }),
    route({
      method: 'POST',
      path: '/rules',
      summary: 'Makes a rule',
      description: DESCRIPTION,
      needs: 'dispatcher',
      body: NEW_RULE,
      bodyExample: {
        name: 'Too fast',
        when: { field: 'speed', above: 36, clear: 33 },
        forSeconds: 60,
        labels: ['night shift'],
      },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { status: 201, data: RULE },
      handle: create,
    }),
    {
      method: 'GET',
      path: '/rules/:id',
      summary: 'One rule',
      needs: 'viewer',
      scope,
      answer: { data: RULE },
      handle: show,
    },
    route({
      method: 'GET',
      path: '/rules/:id/devices',
      summary: 'Devices for which a rule is raised, and since when',
      needs: 'viewer',
      scope,
      query: PAGE_PARAMETERS,
      answer: { data: DEVICES_WITH },
      handle: listDevices,
    }),
    route({
      method: 'PATCH',
      path: '/rules/:id',
      summary: 'Changes a rule',
      description:
        '`null` takes an optional field away. A change drops what was known of the condition, without facts.',
      needs: 'dispatcher',
      body: RULE_CHANGES,
      bodyExample: { forSeconds: 120 },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { data: RULE },
      handle: change,
    }),
    {
      method: 'DELETE',
      path: '/rules/:id',
      summary: 'Deletes a rule',
      needs: 'dispatcher',
      answer: {},
      handle: remove,
    },
  ]
}

const DESCRIPTION = `
A rule is **raised** for a device once its condition has held for \`forSeconds\`, and **cleared** by the first input for which
it no longer holds. \`stopped\` finds stops as trips do; \`silent\` needs \`forSeconds\` of 10 at least. Devices are judged by it
within 5 s.
`.trim()
