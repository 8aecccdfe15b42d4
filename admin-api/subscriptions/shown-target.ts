import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { ShownTarget } from '../../schemas/subscriptions/subscription.ts'
import type { Caller } from '../http/caller.ts'

export const SHOWN_TARGET = objectOf(
  {
    kind: { type: 'string' },
    url: { type: 'string', description: 'Scheme and host alone' },
    batch: { type: 'integer' },
    chatId: { type: 'string' },
    to: {
      type: 'array',
      items: { type: 'string' },
      description: 'Whole for dispatchers and admins; others read `o…@example.org`',
    },
  },
  {
    title: 'ShownTarget',
    optional: ['url', 'batch', 'chatId', 'to'],
    description: 'Without its secrets',
  },
)

export function targetView({ target }: { readonly target: ShownTarget }, caller: Caller) {
  if (target.kind !== 'email' || seesAddresses(caller)) return target
  return { ...target, to: target.to.map((address) => address.replace(/^(.).*(@.*)$/su, '$1…$2')) }
}

/** Whether the caller could have entered the addresses; the others who read subscriptions have no list of operators. */
function seesAddresses(caller: Caller): boolean {
  if (caller.kind === 'operator') return caller.operator.role !== 'viewer'
  return caller.key.scopes.includes('admin') && caller.key.deviceIds === undefined
}
