import type { Audit, Instances, Shares } from '../back-office.ts'
import type { Keys } from '../keys.ts'
import type { Operators } from '../operators.ts'
import type { Erasures } from '../read-models.ts'
import type { DefinitionStore } from '../definitions.ts'
import type { Handlings } from '../handlings.ts'
import type { Rejections } from '../rejections.ts'
import type { SubscriptionStore } from '../subscriptions.ts'
import type { OpenDocuments } from '../documents.ts'
import { accountsOf } from './accounts.ts'
import { ADOPTIONS, definitionsOf } from './definitions.ts'
import { auditOf } from './audit.ts'
import { readAmounts, GEOFENCES, RULES } from './definition-documents.ts'
import { definitionTotals, GEOFENCE_TOTALS } from './definition-totals.ts'
import { HANDLINGS, handlingsOf } from './handlings.ts'
import { instancesOf } from './instances.ts'
import { grantsOf, keysOf } from './keys.ts'
import {
  ACCOUNTS,
  ANNOUNCED_ERASURES,
  AUDIT,
  INSTANCE_HOURS,
  INSTANCES,
  KEYS,
  OPERATORS,
  REJECTION_KIND,
  SERVICE,
  SESSIONS,
  SHARES,
  SPOOLS,
} from './kinds.ts'
import { MAILS, mailsOf, DELIVERIES, SUBSCRIPTIONS, subscriptionsOf } from './subscriptions.ts'
import { findDocumentByEmail } from './operator-documents.ts'
import { addOperator, operatorsOf } from './operators.ts'
import { rejectionsOf } from './rejections.ts'
import { rightsOf } from './rights.ts'
import { sessionsOf } from './sessions.ts'
import { sharesOf } from './shares.ts'
import { PROGRESS } from './subscription-progress.ts'

export type BackOffice = Keys &
  Operators &
  Shares &
  Audit &
  Instances &
  DefinitionStore &
  SubscriptionStore &
  Handlings

/** All kinds except the rejected reports, which may be stored elsewhere. */
export const BACK_OFFICE = [
  ACCOUNTS,
  SERVICE,
  OPERATORS,
  SESSIONS,
  KEYS,
  SHARES,
  GEOFENCES,
  GEOFENCE_TOTALS,
  ADOPTIONS,
  RULES,
  SUBSCRIPTIONS,
  PROGRESS,
  DELIVERIES,
  MAILS,
  HANDLINGS,
  ANNOUNCED_ERASURES,
  AUDIT,
  INSTANCES,
  INSTANCE_HOURS,
  SPOOLS,
] as const

export const ALL_KINDS = [...BACK_OFFICE, REJECTION_KIND] as const

/** The reads of devices' settings that the back office needs. */
export type SettingsRead = {
  readonly disabledDevices: (accountId: string) => Promise<readonly string[]>
  readonly livesOf: Erasures['livesOf']
}

/** The operators' data, on top of a database's documents. */
export function openBackOffice(
  open: OpenDocuments,
  { disabledDevices, livesOf }: SettingsRead,
): BackOffice {
  const accounts = open(ACCOUNTS)
  const operators = open(OPERATORS)
  const sessions = open(SESSIONS)
  const keys = open(KEYS)
  const definitions = {
    geofences: open(GEOFENCES),
    rules: open(RULES),
    subscriptions: open(SUBSCRIPTIONS),
  }
  const totals = definitionTotals(open(GEOFENCE_TOTALS), async function* (accountId) {
    for (const kind of Object.values(definitions)) yield* readAmounts(kind, accountId)
  })
  const rights = rightsOf({ accounts, operators, service: open(SERVICE) })
  return {
    ...accountsOf({
      accounts,
      isEmailTaken: async (email) => (await findDocumentByEmail(operators, email)) !== undefined,
      addOperator: (operator) => addOperator({ accounts, operators, rights }, operator),
    }),
    ...operatorsOf({ accounts, operators, sessions, rights }),
    ...sessionsOf({ accounts, operators, sessions, rights }),
    ...keysOf(keys),
    ...grantsOf({ keys, accounts, disabledDevices }),
    ...sharesOf({ shares: open(SHARES), accounts, livesOf }),
    ...definitionsOf({ ...definitions, totals, adoptions: open(ADOPTIONS) }),
    ...subscriptionsOf({
      ...definitions,
      totals,
      progress: open(PROGRESS),
      deliveries: open(DELIVERIES),
    }),
    ...mailsOf(open(MAILS)),
    ...handlingsOf(open(HANDLINGS), { livesOf }),
    ...auditOf(open(AUDIT), { livesOf }),
    ...instancesOf({
      instances: open(INSTANCES),
      spools: open(SPOOLS),
      hours: open(INSTANCE_HOURS),
    }),
  }
}

export function openGrants(
  open: OpenDocuments,
  { disabledDevices }: Pick<SettingsRead, 'disabledDevices'>,
): Pick<Keys, 'findGrant'> {
  return grantsOf({ keys: open(KEYS), accounts: open(ACCOUNTS), disabledDevices })
}

export function openRejections(
  open: OpenDocuments,
  { clock }: { clock: { now(): number } },
): Rejections {
  return rejectionsOf(open(REJECTION_KIND), { clock })
}
