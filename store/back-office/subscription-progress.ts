import { setTimeout as pause } from 'node:timers/promises'
import type {
  DeviceSubscription,
  SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import type { DocumentStore, Kind, Revisioned } from '../documents.ts'
import type { SubscriptionStore } from '../subscriptions.ts'
import { repeatUntilDone } from './changing.ts'
import type { definitionDocuments } from './definition-documents.ts'

/**
 * The progress of a subscription. It is written with every request; the subscription, which may be
 * large, is not.
 */
export type ProgressDocument = {
  /** The subscription's id. */
  readonly id: string
  readonly accountId: string
  /** The revision of the subscription that it belongs to. */
  readonly of: number
  readonly content: string
}

export const PROGRESS: Kind<ProgressDocument> = { name: 'subscription_progress', indexes: {} }

/**
 * A deliverer of version 0.3.0 reads the lease in the subscription itself: this lease keeps it from
 * delivering.
 */
const MOVED = { owner: 'moved', until: Number.MAX_SAFE_INTEGER }

/** A change writes the subscription first, then its progress. */
const CHANGED_WITHIN_MS = 200
const LOOKS_EVERY_MS = 20

type Key = { readonly accountId: string; readonly id: string }
type Definitions = ReturnType<typeof definitionDocuments<DeviceSubscription>>
type Stored = {
  readonly definition: DeviceSubscription
  readonly document: Revisioned<ProgressDocument>
}

/** Subscriptions stored in two documents: the definition, and the progress. */
export function subscriptionsWithProgress(
  definitions: Definitions,
  documents: DocumentStore<ProgressDocument>,
) {
  /**
   * The progress is read first, so that progress written after a change is never combined with the
   * definition before it.
   */
  async function read(query: Key): Promise<Stored | undefined> {
    const document = await documents.get(query.id)
    const definition = await definitions.get(query)
    if (definition === undefined) return undefined
    return { definition, document: document ?? (await moved(definition)) }
  }

  async function load(query: Key): Promise<Stored | undefined> {
    for (let waitedMs = 0; ; waitedMs += LOOKS_EVERY_MS) {
      const stored = await read(query)
      if (stored === undefined || stored.document.of === stored.definition.revision) return stored
      if (waitedMs < CHANGED_WITHIN_MS) await pause(LOOKS_EVERY_MS)
      // The process that changed the definition has ended, or is of a version without a progress
      // document.
      else await documents.replace({ ...stored.document, of: stored.definition.revision })
    }
  }

  /** Moves the progress out of a subscription of version 0.3.0. */
  async function moved(definition: DeviceSubscription): Promise<Revisioned<ProgressDocument>> {
    let { progress } = definition
    await definitions.change<never>(definition, async (before) => {
      progress = before.progress
      return { next: joinProgress(before, { ...progress, lease: MOVED }) }
    })
    const { lease, ...rest } = progress
    const kept = lease === undefined || lease.owner === MOVED.owner ? rest : progress
    await documents.insert([documentOf(joinProgress(definition, kept))])
    const document = await documents.get(definition.id)
    return document ?? { ...documentOf(joinProgress(definition, kept)), revision: 0 }
  }

  const join = ({ definition, document }: Stored): DeviceSubscription =>
    joinProgress(definition, toProgress(document))

  async function replace(
    document: Revisioned<ProgressDocument>,
    progress: SubscriptionProgress,
    of: number,
  ): Promise<boolean> {
    return documents.replace({ ...document, of, content: JSON.stringify(progress) })
  }

  /** Writes the progress after the definition it belongs to. */
  async function follow(
    definition: DeviceSubscription,
    next: (progress: SubscriptionProgress) => SubscriptionProgress | undefined,
  ): Promise<DeviceSubscription> {
    return repeatUntilDone(async () => {
      const document = await documents.get(definition.id)
      if (document === undefined) return definition
      const before = toProgress(document)
      const progress = next(before) ?? before
      // Even if it stays the same, so that a request already started notices the change.
      const isWritten = await replace(document, progress, definition.revision)
      return isWritten ? joinProgress(definition, progress) : undefined
    })
  }

  return {
    async insert(subscription: DeviceSubscription): Promise<void> {
      await documents.insert([documentOf(subscription)])
      const { mark } = subscription.progress
      const left = { mark, deliveries: 0, setAside: [], setAsideInARow: 0, resend: [] }
      await definitions.insert([joinProgress(subscription, { ...left, lease: MOVED })])
    },

    async find(query: Key): Promise<DeviceSubscription | undefined> {
      const stored = await load(query)
      return stored && join(stored)
    },

    /** The current state of these subscriptions, without those deleted since. */
    async joined(all: readonly DeviceSubscription[]): Promise<DeviceSubscription[]> {
      const found = await Promise.all(all.map((one) => load(one)))
      return found.flatMap((stored) => (stored === undefined ? [] : [join(stored)]))
    },

    change: (query: Key, next: Parameters<SubscriptionStore['changeSubscription']>[1]) =>
      repeatUntilDone(async () => {
        const stored = await load(query)
        if (stored === undefined) return { outcome: undefined }
        const { definition, document } = stored
        const before = join(stored)
        const after = next(before)
        if (after === undefined) return { outcome: 'refused' as const }
        const changed = joinProgress(after, definition.progress)
        const write = (next: DeviceSubscription) =>
          definitions.change<'again'>(query, async (current) =>
            current.revision === definition.revision && current.changedAt === definition.changedAt
              ? { next }
              : { refused: 'again' },
          )
        if (after.revision === definition.revision) {
          // A deliverer that looks because of the change finds the requested progress.
          const isWritten = await replace(document, after.progress, definition.revision)
          if (!isWritten) return undefined
          const written = await write(changed)
          if (written === 'again') return undefined
          return { outcome: written && joinProgress(written, after.progress) }
        }
        const written = await write(changed)
        if (written === 'again') return undefined
        if (written === undefined) return { outcome: undefined }
        const follows = (progress: SubscriptionProgress) =>
          next(joinProgress(definition, progress))?.progress
        return { outcome: await follow(written, follows) }
      }).then(({ outcome }) => outcome),

    changeProgress: (
      { accountId, id }: Key,
      next: Parameters<SubscriptionStore['changeProgress']>[1],
    ) =>
      repeatUntilDone(async () => {
        const document = (await documents.get(id)) ?? (await load({ accountId, id }))?.document
        if (document?.accountId !== accountId) return { outcome: undefined }
        const { of: revision } = document
        const progress = next(toProgress(document), revision)
        if (progress === undefined) return { outcome: 'refused' as const }
        const isWritten = await replace(document, progress, revision)
        return isWritten ? { outcome: { progress, revision } } : undefined
      }).then(({ outcome }) => outcome),

    async remove(query: Key, deletedAt: number): Promise<DeviceSubscription | undefined> {
      const stored = await load(query)
      const deleted = await definitions.remove(query, deletedAt)
      if (deleted === undefined) return undefined
      await documents.remove({ id: query.id })
      return stored === undefined ? deleted : joinProgress(deleted, toProgress(stored.document))
    },
  }
}

function joinProgress(
  subscription: DeviceSubscription,
  progress: SubscriptionProgress,
): DeviceSubscription {
  return { ...subscription, progress }
}

function documentOf({ id, accountId, revision: of, progress }: DeviceSubscription) {
  return { id, accountId, of, content: JSON.stringify(progress) }
}

function toProgress({ content }: ProgressDocument): SubscriptionProgress {
  return JSON.parse(content) as SubscriptionProgress
}
