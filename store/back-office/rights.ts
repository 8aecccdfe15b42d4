import type { Operator, OperatorKept } from '../operators.ts'
import type { DocumentStore } from '../documents.ts'
import { changeDocument, repeatUntilDone } from './changing.ts'
import {
  SERVICE_ID,
  type AccountDocument,
  type OperatorDocument,
  type ServiceDocument,
} from './kinds.ts'

export type Rights = { readonly isAdmin: boolean; readonly platform: boolean }

/**
 * Only the lists in the account's and the service's documents make an operator an admin or a
 * platform operator. An operator is removed from a list only while the list has another operator
 * that exists, even under concurrent changes: a change that relies on another operator first gives
 * its document a new revision, so that a removal that read it before has to check the list again.
 */
export function rightsOf({
  accounts,
  service,
  operators,
}: {
  accounts: DocumentStore<AccountDocument>
  service: DocumentStore<ServiceDocument>
  operators: DocumentStore<OperatorDocument>
}) {
  async function isThere(operatorId: string): Promise<boolean> {
    return (await changeDocument(operators, operatorId, (operator) => operator)) !== undefined
  }

  async function isAnyThere(operatorIds: readonly string[]): Promise<boolean> {
    for (const operatorId of operatorIds) if (await isThere(operatorId)) return true
    return false
  }

  async function dismiss(
    list: List,
    operatorId: string,
  ): Promise<'dismissed' | 'was none' | 'is the last'> {
    return repeatUntilDone(async () => {
      const current = await list.read()
      if (current === undefined) return 'was none'
      const remaining = current.ids.filter((id) => id !== operatorId)
      const isListed = remaining.length < current.ids.length
      if (isListed && !(await isAnyThere(remaining))) return 'is the last'
      // Written even when unchanged: the list may have changed since it was read.
      if (!(await current.write(remaining))) return undefined
      return isListed ? 'dismissed' : 'was none'
    })
  }

  async function appoint(list: List, operatorId: string): Promise<void> {
    await repeatUntilDone(async () => {
      const current = await list.read()
      if (current === undefined || current.ids.includes(operatorId)) return true
      return (await current.write([...current.ids, operatorId])) || undefined
    })
    // The operator may have been removed before it was on the list.
    if ((await operators.get(operatorId)) === undefined) await dismiss(list, operatorId)
  }

  function admins(accountId: string): List {
    return {
      async read() {
        const account = await accounts.get(accountId)
        return (
          account && {
            ids: account.admins,
            write: (admins) => accounts.replace({ ...account, admins }),
          }
        )
      },
    }
  }

  const platformList: List = {
    async read() {
      const found = await service.get(SERVICE_ID)
      return {
        ids: found?.platform ?? [],
        async write(platform) {
          if (found !== undefined) return service.replace({ ...found, platform })
          return (await service.insert([{ id: SERVICE_ID, platform }])).length === 1
        },
      }
    },
  }

  return {
    /** The rights of operators of one account. */
    async of(accountId: string): Promise<(operatorId: string) => Rights> {
      const [account, found] = await Promise.all([accounts.get(accountId), service.get(SERVICE_ID)])
      return readRights(account, found)
    },

    /** The rights in an account that was already read. */
    async in(account: AccountDocument): Promise<(operatorId: string) => Rights> {
      return readRights(account, await service.get(SERVICE_ID))
    },

    /**
     * Grants rights to an existing operator. Platform first: an account with an admin is complete.
     */
    async give(
      { id, accountId }: Pick<Operator, 'id' | 'accountId'>,
      { role, platform }: Partial<Pick<Operator, 'role' | 'platform'>>,
    ): Promise<void> {
      if (platform === true) await appoint(platformList, id)
      if (role === 'admin') await appoint(admins(accountId), id)
    },

    /** Revokes the named rights, or says why all of them stay. */
    async take(
      { id, accountId }: Pick<Operator, 'id' | 'accountId'>,
      { admin, platform }: { readonly admin: boolean; readonly platform: boolean },
    ): Promise<OperatorKept | undefined> {
      const asAdmin = admin ? await dismiss(admins(accountId), id) : 'was none'
      if (asAdmin === 'is the last') return 'last admin'
      const asPlatform = platform ? await dismiss(platformList, id) : 'was none'
      if (asPlatform !== 'is the last') return undefined
      if (asAdmin === 'dismissed') await appoint(admins(accountId), id)
      return 'last platform operator'
    },
  }
}

/** Ids of operators in a document; `write` returns false if it has changed since it was read. */
type List = {
  read(): Promise<
    | {
        readonly ids: readonly string[]
        readonly write: (ids: readonly string[]) => Promise<boolean>
      }
    | undefined
  >
}

function readRights(
  account: AccountDocument | undefined,
  service: ServiceDocument | undefined,
): (operatorId: string) => Rights {
  const admins = new Set(account?.admins)
  const platform = new Set(service?.platform)
  return (operatorId) => ({
    isAdmin: admins.has(operatorId),
    platform: platform.has(operatorId),
  })
}
