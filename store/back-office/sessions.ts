import { readPages } from '../../runtime/process/read-pages.ts'
import type { Operators } from '../operators.ts'
import type { DocumentStore } from '../documents.ts'
import { accountOf } from './accounts.ts'
import { changeDocument } from './changing.ts'
import {
  hashText,
  type AccountDocument,
  type OperatorDocument,
  type SessionDocument,
} from './kinds.ts'
import { operatorOf } from './operator-documents.ts'
import type { rightsOf } from './rights.ts'

type Sessions = Pick<
  Operators,
  'createSession' | 'findSession' | 'touchSession' | 'deleteSession' | 'endSessions'
>

const READ_AT_ONCE = 100
/**
 * More sessions than anybody uses: a program that signs in for each call must not fill the store.
 */
export const SESSIONS_KEPT = 100

export function sessionsOf({
  accounts,
  operators,
  sessions,
  rights,
}: {
  accounts: DocumentStore<AccountDocument>
  operators: DocumentStore<OperatorDocument>
  sessions: DocumentStore<SessionDocument>
  rights: ReturnType<typeof rightsOf>
}): Sessions {
  return {
    async createSession({ tokenHash, operatorId, createdAt, lastSeenAt }) {
      const operator = await operators.get(operatorId)
      const account = operator && (await accounts.get(operator.accountId))
      if (account === undefined) return
      const { resumed = 0 } = account
      const session = { id: hashText(tokenHash), operatorId, createdAt, lastSeenAt, resumed }
      await sessions.insert([session])
      await endOldest(sessions, session)
      if (operator === undefined || (operator.signedIn ?? operator.mustChangePassword !== true))
        return
      await changeDocument(operators, operatorId, (current) => ({ ...current, signedIn: true }))
    },

    async findSession(tokenHash) {
      const session = await sessions.get(hashText(tokenHash))
      if (session === undefined) return undefined
      const operator = await operators.get(session.operatorId)
      if (operator === undefined) return undefined
      const account = await accounts.get(operator.accountId)
      if (account === undefined) return undefined
      if ((session.resumed ?? 0) !== (account.resumed ?? 0)) return undefined
      const { operatorId, createdAt, lastSeenAt } = session
      return {
        session: { tokenHash, operatorId, createdAt, lastSeenAt },
        operator: operatorOf(operator, await rights.in(account)),
        account: accountOf(account),
      }
    },

    touchSession: ({ tokenHash, lastSeenAt }) =>
      sessions.raise('lastSeenAt', new Map([[hashText(tokenHash), lastSeenAt]])),

    async deleteSession(tokenHash) {
      await sessions.remove({ id: hashText(tokenHash) })
    },

    endSessions: ({ operatorId, except }) =>
      endSessions(sessions, operatorId, except && hashText(except)),
  }
}

/** Ends all sessions of an operator, or all but one. */
export async function endSessions(
  sessions: DocumentStore<SessionDocument>,
  operatorId: string,
  except?: string,
): Promise<void> {
  for await (const { id } of findSessionsOf(sessions, operatorId)) {
    if (id !== except) await sessions.remove({ id })
  }
}

/** Ends the oldest of an operator's sessions beyond the maximum number, never the latest. */
async function endOldest(
  sessions: DocumentStore<SessionDocument>,
  { id: latest, operatorId }: SessionDocument,
): Promise<void> {
  const others: { id: string; createdAt: number }[] = []
  for await (const { id, createdAt } of findSessionsOf(sessions, operatorId)) {
    if (id !== latest) others.push({ id, createdAt })
  }
  others.sort((a, b) => b.createdAt - a.createdAt)
  for (const { id } of others.slice(SESSIONS_KEPT - 1)) await sessions.remove({ id })
}

async function* findSessionsOf(sessions: DocumentStore<SessionDocument>, operatorId: string) {
  const pages = readPages<SessionDocument>(READ_AT_ONCE, (page) =>
    sessions.find({ index: 'operator', where: { operatorId }, ...page }),
  )
  for await (const page of pages) yield* page
}
