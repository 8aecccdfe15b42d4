import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient, MongoServerError } from 'mongodb'
import { containerHost, startContainer } from './containers.ts'
import { freePort, startProcess, type OwnServer, type ServerOptions } from './own-server.ts'
import { mongodbProgram } from './programs.ts'

/** Starts `mongod`, or a stand-in of its protocol if there is none. */
export async function startMongodb(
  options: ServerOptions = {},
): Promise<OwnServer & { url: string }> {
  const port = options.port ?? (await freePort())
  const host = await containerHost()
  if (host !== undefined) {
    const url = address(host, port)
    const server = await startContainer({
      image: 'mongo:8',
      port,
      containerPort: 27_017,
      answers: () => mongodbAnswers(url),
    })
    if (server !== undefined) return Object.assign(server, { url })
  }
  const url = address('127.0.0.1', port)
  return Object.assign(await startOwn(options, { port, url }), { url })
}

/** A user has the name of its database; `actions` are its permissions there besides its roles. */
export type DatabaseUser = {
  readonly name: string
  readonly roles: readonly string[]
  readonly actions?: readonly string[]
}

/** Starts a server with access for only these users, each in their own database. */
export async function startMongodbWithUsers(
  users: readonly DatabaseUser[],
): Promise<OwnServer & { urlOf(name: string): string }> {
  const port = await freePort()
  const url = address('127.0.0.1', port)
  const more: string[] = []
  const server = await startOwn({}, { port, url, more })
  const client = new MongoClient(url)
  for (const { name, roles, actions } of users) {
    const db = client.db(name)
    if (actions !== undefined) {
      const privileges = [{ resource: { db: name, collection: '' }, actions }]
      await db.command({ createRole: 'special', privileges, roles: [] })
    }
    const all = [...roles, ...(actions === undefined ? [] : ['special'])]
    const inOwnDatabase = all.map((role) => ({ role, db: name }))
    await db.command({ createUser: name, pwd: name, roles: inOwnDatabase })
  }
  await client.close()
  await server.stop()
  more.push('--auth')
  await server.restart()
  const urlOf = (name: string) => url.replace('//', `//${name}:${name}@`).replace('/?', `/${name}?`)
  return Object.assign(server, { urlOf })
}

async function startOwn(
  options: ServerOptions,
  { port, url, more = [] }: { port: number; url: string; more?: readonly string[] },
): Promise<OwnServer> {
  const program = await mongodbProgram()
  return startProcess('mongodb', options, async (dataDir) => {
    const data = join(dataDir, 'data')
    mkdirSync(data, { recursive: true })
    const { command, args } = program({ port, dataDir: data })
    return { command, args: [...args, ...more], answers: () => mongodbAnswers(url) }
  })
}

function address(host: string, port: number): string {
  return `mongodb://${host}:${port}/?directConnection=true`
}

async function mongodbAnswers(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 1000 })
  try {
    await client.db('admin').command({ ping: 1 })
  } catch (error) {
    // A request for credentials is a response too.
    if (!(error instanceof MongoServerError)) throw error
  } finally {
    await client.close()
  }
}
