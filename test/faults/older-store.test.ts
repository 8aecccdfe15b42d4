import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { MongoClient, type Document } from 'mongodb'
import { copyDatabase } from '../../commands/backup/copy-database.ts'
import { adminReader } from '../admin-reader.ts'
import { closeAfterwards } from '../closing.ts'
import {
  signIn,
  startDistributedDeployment,
  startEmbeddedDeployment,
  submitTo,
  type Deployment,
} from '../deployments.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { noteFault } from './table.ts'

/** A deployment whose store can be copied while it runs and restored while it is stopped. */
type Restorable = {
  readonly running: Deployment
  readonly copyStore: () => Promise<void>
  readonly putBack: () => Promise<void>
  readonly rebuildEnv: Record<string, string>
}

const directory = directoryForEachTest()

test('an older store in files gets every report from the log', async () => {
  const data = join(directory(), 'data')
  const copy = join(directory(), 'copy')
  const running = await startEmbeddedDeployment({ DATA_DIR: data })
  closeAfterwards(() => running.remove())
  const inStore = (name: string) => /^(accounts|rejections|read-models-\d+)\.sqlite/.test(name)
  await expectEveryReport('files', {
    running,
    async copyStore() {
      mkdirSync(copy)
      for (const name of readdirSync(data).filter(inStore)) {
        if (name.endsWith('.sqlite')) await copyDatabase(join(data, name), join(copy, name), noop)
      }
    },
    async putBack() {
      for (const name of readdirSync(data).filter(inStore)) rmSync(join(data, name))
      for (const name of readdirSync(copy)) copyFileSync(join(copy, name), join(data, name))
    },
    rebuildEnv: { DATA_DIR: data },
  })
})

await describeWith(['kafka', 'mongodb'], 'an older MongoDB beside the same Kafka', (services) => {
  test('gets every report from the log', async () => {
    const { brokers, topicPrefix } = services.kafka
    const mongodbUrl = urlOfDatabase(services.mongodb.url, services.mongodb.database)
    const client = new MongoClient(mongodbUrl)
    closeAfterwards(() => client.close())
    const running = await startDistributedDeployment({ brokers, topicPrefix, mongodbUrl })
    closeAfterwards(() => running.remove())
    const copy = new Map<string, Document[]>()
    await expectEveryReport('MongoDB', {
      running,
      async copyStore() {
        for (const collection of await client.db().collections()) {
          copy.set(collection.collectionName, await collection.find().toArray())
        }
      },
      async putBack() {
        await client.db().dropDatabase()
        for (const [name, documents] of copy) {
          if (documents.length > 0) await client.db().collection(name).insertMany(documents)
        }
      },
      rebuildEnv: {
        KAFKA_BROKERS: brokers.join(','),
        KAFKA_TOPIC_PREFIX: topicPrefix,
        MONGODB_URL: mongodbUrl,
      },
    })
  })
})

/**
 * Copies the store, adds reports, a new device and an erasure, and restores the copy: afterwards
 * every report is there, and no response shows anything of the erased device.
 */
async function expectEveryReport(
  store: string,
  { running, copyStore, putBack, rebuildEnv }: Restorable,
): Promise<void> {
  const recordIds: string[] = []
  async function report(deviceId: string, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const sent = { deviceId, latitude: 52 + n / 100, longitude: 13 }
      const { status, recordId } = await submitTo(running.ingestUrl, running.key, sent)
      expect(status).toBe(200)
      recordIds.push(recordId ?? '')
    }
  }
  const countOf = async ({ adminUrl, key }: Deployment, deviceId: string) =>
    (await adminReader({ adminUrl, key }).positionsIfAny(deviceId)).length

  await report('van', 5)
  await report('gone', 2)
  await eventually(async () => (await countOf(running, 'van')) === 5)
  await eventually(async () => (await countOf(running, 'gone')) === 2)
  const before = await signIn(running.adminUrl)
  await before.call('PATCH', '/devices/gone', { name: 'Anna', labels: ['night'] })
  const { token } = await before.call<{ token: string }>('POST', '/shares', {
    deviceIds: ['van', 'gone'],
    names: { gone: 'Anna’s van' },
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    trailMinutes: 60,
  })
  await copyStore()

  await report('van', 5)
  await report('new', 1)
  await before.eraseDevice('gone')
  await eventually(async () => (await countOf(running, 'van')) === 10)
  await eventually(async () => (await countOf(running, 'new')) === 1)

  await running.stop()
  await putBack()
  const restored = await running.restart()
  closeAfterwards(() => restored.remove())
  const restoredAt = performance.now()
  const { adminUrl, key } = restored
  const statuses = new Set<number>()
  const shared = new Set<number>()
  await eventually(
    async () => {
      statuses.add(await statusOf(`${adminUrl}/api/v1/devices/gone`, key))
      shared.add((await sharedItems(adminUrl, token)).length)
      return (await countOf(restored, 'van')) === 10 && (await countOf(restored, 'new')) === 1
    },
    { withinMs: 60_000 },
  )
  const caughtUpMs = Math.round(performance.now() - restoredAt)
  expect([...statuses]).toEqual([404])
  expect(Math.max(...shared)).toBeLessThan(2)

  const again = await signIn(adminUrl)
  await eventually(async () => {
    const { items } = await again.call<{ items: Share[] }>('GET', '/shares')
    return items.length === 1 && items[0]?.deviceIds.join() === 'van'
  })
  const reborn = await submitTo(restored.ingestUrl, key, {
    deviceId: 'gone',
    latitude: 1,
    longitude: 1,
  })
  expect(reborn.status).toBe(200)
  const device = await eventually(() =>
    again.call<{ reportCount: number; name?: string | null; labels?: string[] }>(
      'GET',
      '/devices/gone',
    ),
  )
  expect(device.reportCount).toBe(1)
  expect(device.name ?? null).toBeNull()
  expect(device.labels ?? []).toEqual([])
  expect(await sharedItems(adminUrl, token)).toMatchObject([{ name: 'Device 1' }])

  if (store === 'files') await restored.stop()
  const rebuild = startProgram('commands/rebuild/main', { env: rebuildEnv })
  expect({ code: await rebuild.ended, output: rebuild.output() }).toMatchObject({ code: 0 })
  noteFault(`an older store put back beside the same log: ${store}`, {
    reports: recordIds.length,
    'ms until all are there': caughtUpMs,
  })
}

type Share = { readonly deviceIds: readonly string[] }

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).status
}

async function sharedItems(adminUrl: string, token: string): Promise<object[]> {
  const answer = await fetch(`${adminUrl}/api/v1/shared`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const { data } = (await answer.json()) as { data?: { items: object[] } }
  return data?.items ?? []
}

function noop(): void {}
