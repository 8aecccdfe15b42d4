import { isDeepStrictEqual } from 'node:util'
import { readPages } from '../../runtime/read-pages.ts'
import type { ChangedDefinition, ChangesQuery, DefinitionsPage } from '../definitions.ts'
import type { DocumentStore, Kind, Revisioned } from '../documents.ts'
import { changed, untilDone } from './changing.ts'

/** A geofence, a rule or a subscription, or the remains of a deleted one, for processes that follow the changes. */
export type DefinitionDocument = {
  readonly id: string
  readonly accountId?: string
  readonly createdAt?: number
  /** When the document was last written. */
  readonly changedAt: number
  readonly deletedAt?: number
  /** Account and external id: unique. */
  readonly external?: string
  /** As JSON: a database would alter some names of properties, and take long for thousands of numbers. */
  readonly content?: string
}

export const DEFINITION_INDEXES: Kind<DefinitionDocument>['indexes'] = {
  oldest: { fields: ['accountId', 'createdAt'] },
  changed: { fields: ['changedAt'] },
  deleted: { fields: ['deletedAt'] },
  external: { fields: ['external'], unique: true },
}

export const GEOFENCES: Kind<DefinitionDocument> = {
  name: 'geofences',
  indexes: DEFINITION_INDEXES,
}
export const RULES: Kind<DefinitionDocument> = { name: 'rules', indexes: DEFINITION_INDEXES }

type Definition = {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  readonly changedAt: number
  readonly externalId?: string
  readonly deviceIds?: readonly string[]
}

const READ_AT_ONCE = 250

/** Definitions of one kind as documents. */
export function definitionDocuments<D extends Definition>(
  documents: DocumentStore<DefinitionDocument>,
) {
  async function get({ accountId, id }: { accountId: string; id: string }) {
    const document = await documents.get(id)
    return document?.accountId === accountId ? document : undefined
  }

  async function* all(accountId: string): AsyncGenerator<readonly D[]> {
    const pages = readPages<Revisioned<DefinitionDocument>>(READ_AT_ONCE, (page) =>
      documents.find({ index: 'oldest', where: { accountId }, ...page }),
    )
    for await (const page of pages) yield page.flatMap((one) => definitionIn<D>(one) ?? [])
  }

  return {
    get: async (query: { accountId: string; id: string }) => definitionIn<D>(await get(query)),

    /** Returns those stored: not those whose external id is taken. */
    async insert(definitions: readonly D[]): Promise<D[]> {
      const stored = await documents.insert(definitions.map(documentOf))
      const ids = new Set(stored.map(({ id }) => id))
      return definitions.filter(({ id }) => ids.has(id))
    },

    page: async ({ accountId, limit, after }: DefinitionsPage): Promise<D[]> => {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', limit } as const
      const page = await documents.find({ ...query, ...(after && { after }) })
      return page.flatMap((document) => definitionIn<D>(document) ?? [])
    },

    findExternal: async (query: {
      readonly accountId: string
      readonly externalId: string
    }): Promise<D | undefined> => {
      const where = { external: externalOf(query) }
      const [document] = await documents.find({ index: 'external', where, limit: 1 })
      return definitionIn<D>(document)
    },

    /**
     * Replaces a definition by `next(definition)`, which may refuse instead. An unchanged definition is not
     * written.
     */
    change<Refused>(
      query: { readonly accountId: string; readonly id: string },
      next: (before: D) => Promise<{ readonly next: D } | { readonly refused: Refused }>,
    ): Promise<D | Refused | undefined> {
      return untilDone(async () => {
        const document = await get(query)
        const before = definitionIn<D>(document)
        if (document === undefined || before === undefined) return { outcome: undefined }
        const outcome = await next(before)
        if ('refused' in outcome) return { outcome: outcome.refused }
        if (isDeepStrictEqual(outcome.next, before)) return { outcome: before }
        const { revision } = document
        const isReplaced = await documents.replace({ ...documentOf(outcome.next), revision })
        return isReplaced ? { outcome: outcome.next } : undefined
      }).then(({ outcome }) => outcome)
    },

    /** Returns the deleted one. */
    async remove(
      query: { readonly accountId: string; readonly id: string },
      deletedAt: number,
    ): Promise<D | undefined> {
      return untilDone(async () => {
        const document = await get(query)
        if (document === undefined) return { deleted: undefined }
        const { id, revision } = document
        const isDone = await documents.replace({ id, changedAt: deletedAt, deletedAt, revision })
        return isDone ? { deleted: definitionIn<D>(document) } : undefined
      }).then(({ deleted }) => deleted)
    },

    /** Brings back one that has just been deleted. */
    async restore(definition: D): Promise<void> {
      await changed(documents, definition.id, ({ revision }) => ({
        ...documentOf(definition),
        revision,
      }))
    },

    all,

    async forget(
      definition: D,
      {
        deviceId,
        erasedAt,
        changedAt,
      }: { readonly deviceId: string; readonly erasedAt: number; readonly changedAt: number },
    ): Promise<void> {
      await changed(documents, definition.id, (document) => {
        const current = definitionIn<D>(document)
        if (current?.deviceIds === undefined || current.changedAt > erasedAt) return undefined
        const deviceIds = current.deviceIds.filter((id) => id !== deviceId)
        const { revision } = document
        return { ...documentOf({ ...current, deviceIds }), changedAt, revision }
      })
    },

    changed: async ({ from, limit, after }: ChangesQuery): Promise<ChangedDefinition<D>[]> => {
      // A page after the first one begins behind `from` already.
      const begin = after === undefined ? { from } : { after }
      const page = await documents.find({ index: 'changed', limit, ...begin })
      return page.map((document) => {
        const { id, changedAt, revision: version } = document
        const definition = definitionIn<D>(document)
        return { id, changedAt, version, ...(definition !== undefined && { definition }) }
      })
    },
  }
}

function documentOf(definition: Definition): DefinitionDocument {
  const { id, accountId, createdAt, changedAt, externalId } = definition
  const external = externalId && { external: externalOf({ accountId, externalId }) }
  const content = JSON.stringify(definition)
  return { id, accountId, createdAt, changedAt, content, ...external }
}

function definitionIn<D>(document: Revisioned<DefinitionDocument> | undefined): D | undefined {
  return document?.content === undefined ? undefined : (JSON.parse(document.content) as D)
}

/** Account ids have no slash. */
function externalOf(query: { readonly accountId: string; readonly externalId: string }): string {
  return `${query.accountId}/${query.externalId}`
}
