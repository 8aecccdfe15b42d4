import type { Clock } from '../../runtime/clock.ts'
import type { RuleContent } from '../../schemas/definitions/device-rule.ts'
import type { Store } from '../../store/store.ts'
import { devicesWithRoute } from '../devices/devices-with.ts'
import type { AdminRoute } from '../http/admin-route.ts'
import { withChange } from '../http/resource-fields.ts'
import { resource, type InAccount } from '../http/resource.ts'
import {
  requireLongSilence,
  requireReachable,
  requireStoredRule,
  RULE_FIELDS,
} from './rule-fields.ts'

/** Conditions of devices that become facts when they begin and end. */
export function ruleRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const rules = resource({
    kind: 'rule',
    fields: RULE_FIELDS,
    find: (query: InAccount) => store.findRule(query),
    reads: { needs: 'viewer', scope: 'devices:read' },
    writes: { needs: 'dispatcher' },
    namesDevices: true,
    bodyLimitBytes: 1024 * 1024,
    store,
    clock,
  })

  return [
    rules.list({
      summary: 'Lists rules, newest first',
      page: (query) => store.pageRules(query),
    }),
    rules.create({
      summary: 'Makes a rule',
      description: DESCRIPTION,
      bodyExample: {
        name: 'Too fast',
        when: { field: 'speed', above: 36, clear: 33 },
        forSeconds: 60,
        labels: ['night shift'],
      },
      async make({ body, ...own }) {
        requireLongSilence(body)
        requireReachable(body)
        return requireStoredRule(await store.createRule({ ...body, ...own }))
      },
    }),
    rules.show({ summary: 'One rule' }),
    devicesWithRoute({
      path: '/rules/:id/devices',
      summary: 'Devices for which a rule is raised, and since when',
      definitionOf: async (ctx, caller) => ({ ruleId: (await rules.findOne(ctx, caller)).id }),
      store,
    }),
    rules.change({
      summary: 'Changes a rule',
      description:
        '`null` takes an optional field away. A change drops what was known of the condition, without facts.',
      bodyExample: { forSeconds: 120 },
      async change({ accountId, id, body }) {
        const next = (content: RuleContent) => {
          const changed = withChange(content, body)
          requireLongSilence(changed)
          requireReachable(changed, content)
          return changed
        }
        const outcome = await store.changeRule({ accountId, id, changedAt: clock.now(), next })
        return outcome && requireStoredRule(outcome)
      },
    }),
    rules.remove({
      summary: 'Deletes a rule',
      remove: (query) => store.deleteRule({ ...query, deletedAt: clock.now() }),
    }),
  ]
}

const DESCRIPTION = `
A rule is **raised** for a device once its condition has held for \`forSeconds\`, and **cleared** by the first input for which
it no longer holds. \`stopped\` finds stops as trips do; \`silent\` needs \`forSeconds\` of 10 at least. Devices are judged by it
within 5 s.
`.trim()
