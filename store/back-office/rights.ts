import type { Operator, OperatorKept } from '../back-office.ts'
import type { Documents } from '../documents.ts'
import { changed, untilDone } from './changing.ts'
import type { AccountDocument, OperatorDocument, ServiceDocument } from './kinds.ts'

export type Rights = Pick<Operator, 'role' | 'platform'>

const SERVICE_ID = 'service'

/**
 * Who is an admin of an account and who an operator of the platform: the lists in the account's
 * document and in the service's, and nothing else, decide. A list only ever loses an operator while
 * it holds another one that exists, also when several processes change operators at once: whoever
 * relies on another operator gives its document a new revision first, so that nobody who has read it
 * before can remove it without looking at the list again.
 */
export function rightsOf({
  accounts,
  service,
  operators,
}: {
  accounts: Documents<AccountDocument>
  service: Documents<ServiceDocument>
  operators: Documents<OperatorDocument>
}) {
  async function isThere(operatorId: string): Promise<boolean> {
    return (await changed(operators, operatorId, (operator) => operator)) !== undefined
  }

  async function isAnyThere(operatorIds: readonly string[]): Promise<boolean> {
    for (const operatorId of operatorIds) if (await isThere(operatorId)) return true
    return false
  }

  async function dismiss(
    list: List,
    operatorId: string,
  ): Promise<'dismissed' | 'was none' | 'is the last'> {
    return untilDone(async () => {
      const found = await list.read()
      if (found === undefined) return 'was none'
      const others = found.ids.filter((id) => id !== operatorId)
      const isListed = others.length < found.ids.length
      if (isListed && !(await isAnyThere(others))) return 'is the last'
      // Written where nothing changes too: what was read may be behind what is there by now.
      if (!(await found.write(others))) return undefined
      return isListed ? 'dismissed' : 'was none'
    })
  }

  async function appoint(list: List, operatorId: string): Promise<void> {
    await untilDone(async () => {
      const found = await list.read()
      if (found === undefined || found.ids.includes(operatorId)) return true
      return (await found.write([...found.ids, operatorId])) || undefined
    })
    // One who left meanwhile was not on the list when its removal looked there.
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
      return rightsIn(account, found)
    },

    /** Those of one whose account has been read already. */
    async in(account: AccountDocument): Promise<(operatorId: string) => Rights> {
      return rightsIn(account, await service.get(SERVICE_ID))
    },

    /** Gives an operator that exists what is named. The platform first: an account with an admin is complete. */
    async give(
      { id, accountId }: Pick<Operator, 'id' | 'accountId'>,
      { role, platform }: Partial<Rights>,
    ): Promise<void> {
      if (platform === true) await appoint(platformList, id)
      if (role === 'admin') await appoint(admins(accountId), id)
    },

    /** Takes away what is named, or says why all of it stays. */
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

/** Ids of operators in a document; `write` gives false where it has changed since it was read. */
type List = {
  read(): Promise<
    | {
        readonly ids: readonly string[]
        readonly write: (ids: readonly string[]) => Promise<boolean>
      }
    | undefined
  >
}

function rightsIn(
  account: AccountDocument | undefined,
  service: ServiceDocument | undefined,
): (operatorId: string) => Rights {
  const admins = new Set(account?.admins)
  const platform = new Set(service?.platform)
  return (operatorId) => ({
    role: admins.has(operatorId) ? 'admin' : 'viewer',
    platform: platform.has(operatorId),
  })
}
