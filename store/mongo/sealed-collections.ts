import { randomUUID } from 'node:crypto'
import type { CollectionInfo, Db, Document } from 'mongodb'

/** Matches no document. */
const NOTHING: Document = { _id: { $exists: false } }

/**
 * Permanently removes the collections of the generations `gone`, leaving empty ones that accept no
 * document. Otherwise a projector that has not yet noticed the end of its generation would recreate
 * a collection by writing to it.
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
  // Atomic, so that a collection of this name always exists.
  await db.renameCollection(sealed, name, { dropTarget: true })
  // Not every compatible server keeps the validator in a rename.
  await db.command({ collMod: name, validator: NOTHING })
}
