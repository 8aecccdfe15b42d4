import type { Binary, Db } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import type { ReportRejected } from '../../schemas/report-rejected.ts'
import {
  ACCOUNTS,
  AUDIT,
  hashText,
  KEYS,
  OPERATORS,
  REJECTIONS,
  SERVICE,
  SESSIONS,
} from '../back-office/kinds.ts'
import { ALL_KINDS } from '../back-office/open-back-office.ts'
import { rejectionDocument } from '../back-office/rejections.ts'
import type { Document, Kind } from '../documents.ts'
import { makeUniqueIndexes, mongoDocuments } from './documents.ts'

const MOVED_AT_ONCE = 500

/**
 * Turns the back office's earlier collections into documents. Can be restarted: existing documents
 * stay. The old keys and accounts are kept, for ingest APIs of the previous version until they are
 * replaced.
 */
export async function moveBackOffice(db: Db, renewed: () => Promise<boolean>): Promise<void> {
  await makeUniqueIndexes(db, ALL_KINDS)
  const open = mongoDocuments(db)

  async function move<D extends Document>(
    from: string,
    kind: Kind<D>,
    shaped: (old: BsonDocument) => BsonDocument,
  ): Promise<void> {
    const documents = open(kind)
    let chunk: D[] = []
    const insert = async () => {
      await documents.insert(chunk)
      chunk = []
      if (await renewed()) return
      throw new DependencyError('another process migrates the database', { retriable: true })
    }
    for await (const old of db.collection(from).find<BsonDocument>({})) {
      chunk.push(shaped(old) as unknown as D)
      if (chunk.length === MOVED_AT_ONCE) await insert()
    }
    await insert()
  }

  const operators = db.collection('operators')
  const admins = await operators.find<BsonDocument>({ role: 'admin' }).toArray()
  const platform = await operators.find<BsonDocument>({ platform: true }).toArray()
  if (platform.length > 0) {
    await open(SERVICE).insert([{ id: 'service', platform: platform.map(idOf) }])
  }
  await move('accounts', ACCOUNTS, (old) => ({
    ...plain(old),
    admins: admins.filter((admin) => admin['accountId'] === idOf(old)).map(idOf),
  }))
  await move('operators', OPERATORS, ({ role: _role, platform: _platform, first, ...old }) => ({
    ...plain(old),
    ...(first === true && { first: 1 }),
  }))
  await move('sessions', SESSIONS, plain)
  await move('api_keys', KEYS, (old) => {
    const { secrets, ...key } = plain(old)
    const [now, before] = secrets as readonly [Secret, Secret?]
    return {
      ...key,
      secret: hashText(bytes(now.hash)),
      ...(before !== undefined && {
        previousSecret: hashText(bytes(before.hash)),
        previousValidUntil: before.validUntil?.getTime(),
      }),
    }
  })
  await move('audit', AUDIT, plain)
  await move('rejections', REJECTIONS, (old) => {
    const { id, ...event } = plain(old)
    return rejectionDocument({ ...event, rejectionId: id } as unknown as ReportRejected)
  })
  for (const done of ['operators', 'sessions', 'audit', 'rejections', 'instances']) {
    await db.dropCollection(done)
  }
}

type Hash = Uint8Array | Binary
type BsonDocument = Readonly<Record<string, unknown>>
type Secret = { readonly hash: Hash; readonly validUntil?: Date }

/** With the id under its own name, and times as milliseconds since the epoch. */
function plain(old: BsonDocument): BsonDocument {
  const fields = Object.entries(old).filter(([field]) => field !== '_id')
  const values = fields.map(([field, value]: [string, unknown]) => [
    field,
    value instanceof Date ? value.getTime() : value,
  ])
  return { id: idOf(old), ...(Object.fromEntries(values) as BsonDocument) }
}

function idOf({ _id: id }: BsonDocument): string {
  return typeof id === 'string' ? id : hashText(bytes(id as Hash))
}

function bytes(hash: Hash): Uint8Array {
  return Buffer.from('sub_type' in hash ? hash.value() : hash)
}
