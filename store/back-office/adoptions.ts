import type { Adoption, AdoptionStore } from '../definitions.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import { changed } from './changing.ts'

/** Its id is the account's. */
export type AdoptionDocument = Omit<Adoption, 'accountId'> & { readonly id: string }

export const ADOPTIONS: Kind<AdoptionDocument> = { name: 'adoptions', indexes: {} }

/** How far devices have been looked for in changed geofences. */
export function adoptionsOf(documents: DocumentStore<AdoptionDocument>): AdoptionStore {
  return {
    async adoption(accountId) {
      const document = await documents.get(accountId)
      if (document === undefined) return undefined
      const { upTo, running } = document
      return { accountId, upTo, ...(running !== undefined && { running }) }
    },

    async saveAdoption({ accountId, upTo, running }) {
      const content = { id: accountId, ...(running !== undefined && { running }) }
      if ((await documents.insert([{ ...content, upTo }])).length === 1) return
      await changed(documents, accountId, ({ revision, upTo: before }) => ({
        ...content,
        upTo: Math.max(before, upTo),
        revision,
      }))
    },
  }
}
