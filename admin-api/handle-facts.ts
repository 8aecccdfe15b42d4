import type { Clock } from '../runtime/clock.ts'
import { ApiError } from '../runtime/errors.ts'
import { succeed } from '../runtime/http/http.ts'
import {
  handleFact,
  isHandledType,
  type HandlingActor,
  type HandlingCall,
} from '../schemas/facts/handling.ts'
import type { DeviceFact } from '../schemas/facts/facts.ts'
import { isListed } from '../schemas/devices/device-id.ts'
import type { FactHandling } from '../store/handlings.ts'
import type { Store } from '../store/store.ts'
import { handledFactView, HANDLED_FACT } from './fact-views.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from './http/admin-route.ts'
import { deviceList, type Caller } from './http/caller.ts'
import { recordAction } from './http/record-action.ts'
import { text, type InputOf } from './http/rule.ts'

const LONGEST_NOTE = 500
const NOTE = {
  note: text({
    max: LONGEST_NOTE,
    expected: `note must be a text of 1 to ${LONGEST_NOTE} characters`,
  }).nullIsAbsence(),
}

type HandlingDeps = {
  store: Pick<Store, 'findFacts' | 'livesOf' | 'changeHandling' | 'appendAudit'>
  clock: Clock
}

/** Calls by which operators agree on who handles an alarm. */
export function handleFactRoutes(deps: HandlingDeps): AdminRoute[] {
  const describeHandlingCall = <Call extends HandlingCall>(call: Call) => ({
    method: 'POST' as const,
    path: `/facts/:id/${call}`,
    summary: CALLS[call].summary,
    description: CALLS[call].description,
    needs: 'dispatcher' as const,
    answer: { data: HANDLED_FACT },
    errors: ['CONFLICT'] as const,
  })
  return [
    ...(['take', 'release'] as const).map((call) =>
      route({
        ...describeHandlingCall(call),
        handle: (ctx: AdminContext, caller: Caller) => handle(ctx, caller, { ...deps, call }),
      }),
    ),
    route({
      ...describeHandlingCall('close'),
      body: NOTE,
      bodyMayBeAbsent: true,
      bodyExample: { note: 'False alarm' },
      handle: (ctx: AdminContext, caller: Caller, { body }: Input<object, InputOf<typeof NOTE>>) =>
        handle(ctx, caller, { ...deps, call: 'close', note: body.note }),
    }),
  ]
}

async function handle(
  ctx: AdminContext,
  caller: Caller,
  { store, clock, call, note }: HandlingDeps & { call: HandlingCall; note?: string | undefined },
): Promise<void> {
  const { accountId } = caller
  const [fact] = await store.findFacts({ accountId, ids: [pathParameter(ctx, 'id')] })
  if (fact === undefined || !isListed(deviceList(caller), fact.deviceId)) throw factNotFound()
  if (!isHandledType(fact.type)) {
    throw new ApiError('CONFLICT', 'only alarm.reported and rule.raised can be taken and closed')
  }
  const { deviceId } = fact
  // Read before the fact: if the device is erased in between, this shows it.
  const lives = await store.livesOf({ accountId, deviceIds: [deviceId] })
  const [current] = await store.findFacts({ accountId, ids: [fact.id] })
  if (current === undefined) throw factNotFound()
  const at = clock.now()
  let outcome: ReturnType<typeof handleFact> = 'unchanged'
  const handling = await store.changeHandling(current, lives.get(deviceId), (before) => {
    outcome = handleFact(before, { call, by: actorOf(caller), at, note })
    return typeof outcome === 'string' ? undefined : outcome
  })
  if ((outcome as string) === 'refused' && handling !== undefined) throw alreadyTakenError(handling)
  if (typeof outcome !== 'string') {
    if (handling === undefined) throw factNotFound()
    const subject = { kind: 'device', id: deviceId } as const
    const details = {
      factId: fact.id,
      ...describeSubject(fact),
      ...(note !== undefined && { note }),
    }
    const { action } = CALLS[call]
    await recordAction(ctx, caller, { action, subject, details, lives }, { store, clock })
  }
  succeed(ctx, handledFactView(fact, handling))
}

function actorOf(caller: Caller): HandlingActor {
  if (caller.kind === 'key') return { id: caller.key.id, name: caller.key.name, isAdmin: true }
  const { id, email, role } = caller.operator
  return { id, name: email, isAdmin: role === 'admin' }
}

/** The alarm or rule, for the audit. */
function describeSubject(fact: DeviceFact) {
  return {
    ...('alarm' in fact && { alarm: fact.alarm }),
    ...('rule' in fact && { rule: fact.rule.name }),
  }
}

function alreadyTakenError({ state, operator }: FactHandling): ApiError {
  return new ApiError('CONFLICT', `${operator} has ${state === 'closed' ? 'closed' : 'taken'} it`)
}

function factNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'there is no event with this id')
}

const CALLS = {
  take: {
    action: 'fact.taken',
    summary: 'Takes an alarm or a raised rule: the caller deals with it',
    description: 'A 409 names who has taken or closed it. Repeating the call changes nothing.',
  },
  release: {
    action: 'fact.released',
    summary: 'Gives back an alarm or a raised rule, or opens a closed one again',
    description: 'Admins may release what others have taken.',
  },
  close: {
    action: 'fact.closed',
    summary: 'Closes an alarm or a raised rule, with a note',
    description: 'It need not have been taken. A 409 names who has taken or closed it.',
  },
} as const
