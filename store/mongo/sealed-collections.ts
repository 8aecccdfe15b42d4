import { randomUUID } from 'node:crypto'
import type { CollectionInfo, Db, Document } from 'mongodb'

/** No document is like this. */
const NOTHING: Document = { _id: { $exists: false } }

/**
 * Removes the collections of the generations of the read models that are `gone`, for good: in the
 * place of each stays an empty one that takes no document. A projector that has not yet noticed the
 * end of its generation would otherwise bring the collection back by writing to it.
 */
export async function sealReadModels(db: Db, gone: (generation: number) => boolean): Promise<void> {
  const collections = await db.listCollections<CollectionInfo>().toArray()
  for (const { name, options } of collections) {
    const generation = /^(?:positions|device_status|applied)_g(\d+)$/.exec(name)?.[1]
    if (generation === undefined || !gone(Number(generation))) continue
    if (options?.['validator'] === undefined) await replaceWithSealed(db, name)
  }
}

async function replaceWithSealed(db: Db, name: string): Promise<void> {
  const sealed = `sealed_${randomUUID()}`
  await db.createCollection(sealed, { validator: NOTHING })
  // In one step, so that there is no moment without a collection of this name.
  await db.renameCollection(sealed, name, { dropTarget: true })
  // Not every server of this protocol takes the validator along.
  await db.command({ collMod: name, validator: NOTHING })
}
