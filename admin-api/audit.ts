import { succeed } from '../runtime/http/http.ts'
import { AUDIT_SUBJECTS, type Audit, type AuditEntry } from '../store/back-office.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from './http/admin-route.ts'
import { pageOf } from './http/answer-page.ts'
import type { Caller } from './http/caller.ts'
import { readCursor, writeCursor } from './http/cursor.ts'
import { PAGE_PARAMETERS, rangeParameters, requireRange, textParameter } from './http/query.ts'
import type { InputOf } from './http/rule.ts'
import { isoTime, TIME } from './http/views.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'

const AUDIT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  operatorId: textParameter('operatorId', 128).described('Only actions of this operator'),
  action: textParameter('action', 64).described('Only this action, for example `key.created`'),
  subjectId: textParameter('subjectId', 128).described('Only actions on this key, device …'),
  ...rangeParameters('`at`'),
}

const DESCRIPTION = `
A page may hold fewer entries than \`limit\`, even none, although more follow: \`nextCursor\` says so. A change of
many devices in one call is one entry; \`subjectId\` finds it by any of them.
`.trim()

/** The audit of an account: every action with its actor. */
export function auditRoutes({ store }: { store: Audit }): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: { limit, cursor, ...filter } }: Input<InputOf<typeof AUDIT_PARAMETERS>>,
  ): Promise<void> {
    requireRange(filter)
    const list = { name: 'audit', accountId, filter }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const { entries, next } = await store.pageAudit({ accountId, ...filter, limit, after })
    succeed(ctx, {
      items: entries.map(auditView),
      nextCursor: next === undefined ? null : writeCursor(list, [next]),
    })
  }

  return [
    route({
      method: 'GET',
      path: '/audit',
      summary: 'Lists who did what to which key, device or operator, newest first',
      description: DESCRIPTION,
      needs: 'admin',
      query: AUDIT_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(AUDIT_ENTRY) },
      handle: list,
    }),
  ]
}

function auditView({ id, at, actor, action, subject, details, address, requestId }: AuditEntry) {
  const { kind, id: actorId, name } = actor
  return {
    id,
    at: isoTime(at),
    actor: { kind, id: actorId, name },
    action,
    subject: { kind: subject.kind, id: subject.id },
    details: details ?? null,
    address,
    requestId,
  }
}

const DETAILS: JsonSchema = {
  title: 'AuditDetails',
  type: 'object',
  description:
    'The values that were set; never a secret. For several devices, `deviceIds` names them',
  additionalProperties: true,
}

const AUDIT_ENTRY: JsonSchema = objectOf(
  {
    id: { type: 'string', description: 'ULID' },
    at: TIME,
    actor: objectOf({
      kind: { enum: ['operator', 'key'] },
      id: { type: 'string' },
      name: { type: 'string', description: 'The e-mail or the name of the key, as it was then' },
    }),
    action: { type: 'string', description: 'What was done, such as `key.created`' },
    subject: objectOf({
      kind: { enum: AUDIT_SUBJECTS },
      id: { type: 'string', description: 'For `devices`, the id of their account' },
    }),
    // Code generators fail on a nullable object without properties, unless it has a name.
    details: { anyOf: [DETAILS, { type: 'null' }] },
    address: {
      type: 'string',
      description:
        'The address of the client; `platform` where the platform did it, `command line` where ' +
        '`npm run set-password` did',
    },
    requestId: { type: 'string' },
  },
  { title: 'AuditEntry' },
)
