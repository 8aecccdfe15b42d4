import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { containerHost, startContainer } from './containers.ts'
import { freePort, startProcess, type OwnServer, type ServerOptions } from './own-server.ts'
import { mongodbProgram } from './programs.ts'

/** Starts `mongod`, or a stand-in of its protocol where there is none. */
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
  const program = await mongodbProgram()
  const server = await startProcess('mongodb', options, async (dataDir) => {
    const data = join(dataDir, 'data')
    mkdirSync(data, { recursive: true })
    return { ...program({ port, dataDir: data }), answers: () => mongodbAnswers(url) }
  })
  return Object.assign(server, { url })
}

function address(host: string, port: number): string {
  return `mongodb://${host}:${port}/?directConnection=true`
}

async function mongodbAnswers(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 1000 })
  try {
    await client.db('admin').command({ ping: 1 })
  } finally {
    await client.close()
  }
}
