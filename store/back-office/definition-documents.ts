import { isDeepStrictEqual } from 'node:util'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { verticesOf, type GeofenceShape } from '../../schemas/definitions/geofence.ts'
import type { DefinitionsPage } from '../back-office.ts'
import type { ChangesPage, ChangesQuery, ErasedDevices, NamedDefinition } from '../definitions.ts'
import type { DocumentStore, Kind, Revisioned } from '../documents.ts'
import { changeDocument, repeatUntilDone } from './changing.ts'
import type { Amount } from './definition-totals.ts'

/**
 * A geofence, rule or subscription, or the remains of a deleted one, for processes that follow the
 * changes.
 */
export type DefinitionDocument = {
  readonly id: string
  /** Absent if the definition was deleted. */
  readonly accountId?: string
  /** The account, also after a deletion. */
  readonly holder?: string
  readonly createdAt?: number
  /** When the document was last written, by the writer's clock. */
  readonly changedAt: number
  /** Absent if version 0.3.0 wrote the document. */
  readonly version?: number
  readonly deletedAt?: number
  /** Account and external id, which are unique together. */
  readonly external?: string
  /** A copy of the content's name; absent if version 0.3.0 wrote the document. */
  readonly name?: string
  /** The sizes of the content; absent under the same condition as the name. */
  readonly bytes?: number
  readonly vertices?: number
  /**
   * The definition as JSON: a database would alter some property names, and be slow with thousands
   * of numbers.
   */
  readonly content?: string
}

export const DEFINITION: Omit<Kind<DefinitionDocument>, 'name'> = {
  isCounted: true,
  brief: [
    'accountId',
    'createdAt',
    'changedAt',
    'deletedAt',
    'version',
    'name',
    'bytes',
    'vertices',
  ],
  indexes: {
    oldest: { fields: ['accountId', 'createdAt'] },
    version: { fields: ['version'] },
    holder: { fields: ['holder', 'version'] },
    deleted: { fields: ['deletedAt'] },
    external: { fields: ['external'], unique: true },
  },
}

export const GEOFENCES: Kind<DefinitionDocument> = { name: 'geofences', ...DEFINITION }
export const RULES: Kind<DefinitionDocument> = { name: 'rules', ...DEFINITION }

type Definition = {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  readonly changedAt: number
  readonly name: string
  readonly externalId?: string
  readonly deviceIds?: readonly string[]
  readonly shape?: GeofenceShape
}

const READ_AT_ONCE = 250
/** Definitions read from the database together, and the last document. */
const MOST_BYTES = 1024 * 1024

/** Definitions of one kind as documents. */
export function definitionDocuments<D extends Definition>(
  documents: DocumentStore<DefinitionDocument>,
) {
  async function get({ accountId, id }: { accountId: string; id: string }) {
    const document = await documents.get(id)
    return document?.accountId === accountId ? document : undefined
  }

  async function* readAll(accountId: string): AsyncGenerator<readonly D[]> {
    for await (const page of pagesOf(documents, accountId)) {
      yield page.flatMap((document) => toDefinition<D>(document) ?? [])
    }
  }

  return {
    get: async (query: { accountId: string; id: string }) => toDefinition<D>(await get(query)),

    /** Returns the stored definitions: those whose external id is taken are omitted. */
    async insert(definitions: readonly D[]): Promise<D[]> {
      const stored = await documents.insert(definitions.map(documentOf))
      const ids = new Set(stored.map(({ id }) => id))
      return definitions.filter(({ id }) => ids.has(id))
    },

    page: async ({ accountId, after, ...bounds }: DefinitionsPage): Promise<D[]> => {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', ...bounds } as const
      const page = await documents.find({ ...query, ...(after && { after }) })
      return page.flatMap((document) => toDefinition<D>(document) ?? [])
    },

    pageNames: async ({ accountId, limit, after }: DefinitionsPage): Promise<NamedDefinition[]> => {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', limit } as const
      const page = await documents.find({ ...query, isBrief: true, ...(after && { after }) })
      const named: NamedDefinition[] = []
      for (const { id, createdAt = 0, version = 0, name } of page) {
        const known = name ?? toDefinition<D>(await documents.get(id))?.name
        named.push({ id, createdAt, version, name: known ?? '' })
      }
      return named
    },

    newestVersion: async (accountId: string): Promise<number> => {
      const query = { index: 'holder', where: { holder: accountId }, order: 'desc' } as const
      const [newest] = await documents.find({ ...query, isBrief: true, limit: 1 })
      return newest?.version ?? 0
    },

    findExternal: async (query: {
      readonly accountId: string
      readonly externalId: string
    }): Promise<D | undefined> => {
      const where = { external: externalOf(query) }
      const [document] = await documents.find({ index: 'external', where, limit: 1 })
      return toDefinition<D>(document)
    },

    /**
     * Replaces a definition with `next(definition)`, which may reject the change. An unchanged
     * definition is not written.
     */
    change<Refused>(
      query: { readonly accountId: string; readonly id: string },
      next: (before: D) => Promise<{ readonly next: D } | { readonly refused: Refused }>,
    ): Promise<D | Refused | undefined> {
      return repeatUntilDone(async () => {
        const document = await get(query)
        const before = toDefinition<D>(document)
        if (document === undefined || before === undefined) return { outcome: undefined }
        const outcome = await next(before)
        if ('refused' in outcome) return { outcome: outcome.refused }
        if (isDeepStrictEqual(outcome.next, before)) return { outcome: before }
        const { revision } = document
        const isReplaced = await documents.replace({ ...documentOf(outcome.next), revision })
        return isReplaced ? { outcome: outcome.next } : undefined
      }).then(({ outcome }) => outcome)
    },

    /** Returns the deleted definition. */
    async remove(
      query: { readonly accountId: string; readonly id: string },
      deletedAt: number,
    ): Promise<D | undefined> {
      return repeatUntilDone(async () => {
        const document = await get(query)
        if (document === undefined) return { deleted: undefined }
        const { id, accountId: holder, revision } = document
        const remains = { id, ...(holder !== undefined && { holder }) }
        const isDone = await documents.replace({
          ...remains,
          changedAt: deletedAt,
          deletedAt,
          revision,
        })
        return isDone ? { deleted: toDefinition<D>(document) } : undefined
      }).then(({ deleted }) => deleted)
    },

    /** Restores a definition that has just been deleted. */
    async restore(definition: D): Promise<void> {
      await changeDocument(documents, definition.id, ({ revision }) => ({
        ...documentOf(definition),
        revision,
      }))
    },

    all: readAll,

    /**
     * Removes erased devices from the lists of definitions that nobody has changed since the
     * erasure.
     */
    async forget({ accountId, erased, changedAt }: ErasedDevices): Promise<void> {
      const isErased = (deviceId: string, since: number) =>
        since <= (erased.get(deviceId) ?? -Infinity)
      const othersTurn = turnTaker()
      const pages = { index: 'oldest', where: { accountId }, limit: READ_AT_ONCE } as const
      let page = await documents.find({ ...pages, mostBytes: MOST_BYTES })
      for (let after = page.at(-1); after !== undefined; after = page.at(-1)) {
        for (const one of page) {
          // Most definitions name no device, and reading them takes long.
          if (one.content?.includes('"deviceIds":') !== true) continue
          await othersTurn()
          const named = toDefinition<D>(one)?.deviceIds ?? []
          if (!named.some((deviceId) => erased.has(deviceId))) continue
          await changeDocument(documents, one.id, (document) => {
            const current = toDefinition<D>(document)
            const before = current?.deviceIds
            if (current === undefined || before === undefined) return undefined
            const deviceIds = before.filter((id) => !isErased(id, current.changedAt))
            if (deviceIds.length === before.length) return undefined
            const { revision } = document
            return { ...documentOf({ ...current, deviceIds }), changedAt, revision }
          })
        }
        await othersTurn()
        page = await documents.find({ ...pages, mostBytes: MOST_BYTES, after })
      }
    },

    /**
     * First assigns a version to documents written by 0.3.0, one page per call: 0.3.0 may be
     * running at the same time.
     */
    changed: async ({ after, isKnown }: ChangesQuery): Promise<ChangesPage<D>> => {
      const hasMore = await giveVersions()
      const page = { index: 'version', limit: READ_AT_ONCE } as const
      const brief = await documents.find({ ...page, from: after + 1, isBrief: true })
      const first = brief.find(({ id, version = 0 }) => !isKnown(id, version))
      const last = brief.at(-1)?.version ?? after
      const isEnd = brief.length < READ_AT_ONCE && !hasMore
      if (first === undefined) return { changes: [], last, isEnd }
      const from = first.version ?? 0
      const whole = await documents.find({ ...page, from, mostBytes: MOST_BYTES })
      const changes = whole.flatMap((document) => {
        const { id, changedAt, version = 0 } = document
        if (isKnown(id, version)) return []
        const definition = toDefinition<D>(document)
        return [{ id, changedAt, version, ...(definition !== undefined && { definition }) }]
      })
      return { changes, last: whole.at(-1)?.version ?? last, isEnd: whole.length === 0 && !hasMore }
    },
  }

  /**
   * Numbers a page of documents. Returns whether there may be more: other processes may have
   * changed or numbered these.
   */
  async function giveVersions(): Promise<boolean> {
    const query = { index: 'version', where: { version: null }, mostBytes: MOST_BYTES } as const
    const without = await documents.find({ ...query, limit: READ_AT_ONCE })
    if (without.length === 0) return false
    const renewed = without.map((document) => {
      const definition = toDefinition<D>(document)
      return {
        ...document,
        ...(definition && documentOf(definition)),
        changedAt: document.changedAt,
      }
    })
    return (await documents.replaceAll(renewed)) > 0
  }
}

async function* pagesOf(
  documents: DocumentStore<DefinitionDocument>,
  accountId: string,
  brief: { readonly isBrief?: true } = {},
): AsyncGenerator<readonly Revisioned<DefinitionDocument>[], void> {
  const query = { index: 'oldest', where: { accountId }, ...brief } as const
  yield* readPages<Revisioned<DefinitionDocument>>(
    READ_AT_ONCE,
    (page) => documents.find({ ...query, ...page }),
    { mostBytes: MOST_BYTES },
  )
}

/** The size of each of an account's definitions. */
export async function* readAmounts(
  documents: DocumentStore<DefinitionDocument>,
  accountId: string,
): AsyncGenerator<Amount, void> {
  for await (const page of pagesOf(documents, accountId, { isBrief: true })) {
    for (const { id, bytes, vertices } of page) {
      if (bytes !== undefined && vertices !== undefined) {
        yield { geofences: vertices > 0 ? 1 : 0, vertices, bytes }
        continue
      }
      const definition = toDefinition<Definition>(await documents.get(id))
      if (definition !== undefined) yield amountOf(definition)
    }
  }
}

function documentOf(definition: Definition): DefinitionDocument {
  const { id, accountId, createdAt, changedAt, name, externalId } = definition
  const external = externalId && { external: externalOf({ accountId, externalId }) }
  const content = JSON.stringify(definition)
  const { bytes, vertices } = amountOf(definition)
  return {
    id,
    accountId,
    holder: accountId,
    createdAt,
    changedAt,
    name,
    bytes,
    vertices,
    content,
    ...external,
  }
}

/** Progress is not part of the definition. */
export function amountOf(definition: Definition & { readonly progress?: unknown }): Amount {
  const { shape } = definition
  const text = JSON.stringify({ ...definition, progress: undefined })
  const vertices = shape === undefined ? 0 : verticesOf(shape)
  return { geofences: shape === undefined ? 0 : 1, vertices, bytes: Buffer.byteLength(text) }
}

function toDefinition<D>(document: Revisioned<DefinitionDocument> | undefined): D | undefined {
  return document?.content === undefined ? undefined : (JSON.parse(document.content) as D)
}

/** Account ids contain no slash. */
function externalOf(query: { readonly accountId: string; readonly externalId: string }): string {
  return `${query.accountId}/${query.externalId}`
}
