import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { startProgram } from '../programs.ts'
import { freePort } from '../services/own-server.ts'
import { composeProject, type ComposeProject } from './compose-project.ts'
import { describeContainers } from './docker.ts'
import { gpx, walk } from './recorded-track.ts'

const OURS = ['ingest-api', 'projector', 'admin-api']
const POINTS = walk(200)
const SUBJECTS = 'http://schema-registry:8080/apis/ccompat/v7/subjects'
const REPORTED = 'gps.position-reported-value'
const OTHER = 'of-nobody-here-value'

await describeContainers('docker compose up', () => {
  const operator = { email: 'ops@example.com', password: 'correct horse battery $taple' }
  let folder: string
  let track: string
  let project: ComposeProject
  let ingestUrl: string
  let adminUrl: string
  let key: string

  beforeAll(async () => {
    const [ingestPort, adminPort] = [await freePort(), await freePort()]
    ingestUrl = `http://127.0.0.1:${ingestPort}`
    adminUrl = `http://127.0.0.1:${adminPort}`
    folder = await ownDirectory()
    track = join(folder, 'walk.gpx')
    await writeFile(track, gpx(POINTS))
    project = await composeProject(folder, {
      ADMIN_EMAIL: operator.email,
      ADMIN_PASSWORD: operator.password,
      INGEST_PORT: String(ingestPort),
      ADMIN_PORT: String(adminPort),
    })
    await project.up()
  }, 900_000)

  afterAll(() => project?.remove())

  test('nothing starts before a password is set', async () => {
    const unset = await composeProject(folder, { ADMIN_EMAIL: operator.email })
    await expect(unset.compose('config', '--quiet')).rejects.toThrow(
      /ADMIN_PASSWORD.*cp \.env\.example/,
    )
  })

  test('a recorded track arrives whole and in order', async () => {
    key = await newKey()
    expect(await sendTrack()).toBe(0)
    await eventually(async () => (await device()).reportCount === POINTS.length, {
      withinMs: 30_000,
      everyMs: 200,
    })
    expect(await history()).toEqual(POINTS)
  })

  test.each(OURS)('%s runs as an unprivileged user, and gets signals directly', async (service) => {
    expect(Number(await project.evaluate(service, 'console.log(process.getuid())'))).toBe(1000)
    const first = `import { readFileSync } from 'node:fs'
      console.log(readFileSync('/proc/1/cmdline', 'utf8').split('\\0').join(' '))`
    expect(await project.evaluate(service, first)).toMatch(
      new RegExp(`^node .*${service}/main.js$`),
    )
  })

  test('only the two APIs can be reached from outside, and only from this machine', async () => {
    const published = (await project.containers()).flatMap(({ Service, Publishers }) =>
      Publishers.filter(({ PublishedPort }) => PublishedPort > 0).map(
        ({ URL, TargetPort }) => `${Service} ${URL}:${TargetPort}`,
      ),
    )
    expect(published.sort()).toEqual(['admin-api 127.0.0.1:8081', 'ingest-api 127.0.0.1:8080'])
  })

  test('each service ends by itself when it is stopped', async () => {
    await project.compose('stop', ...OURS)
    const ended = await project.containers()
    await project.up()
    const exitCodes = OURS.map((service) => [
      service,
      ended.find(({ Service }) => Service === service)?.ExitCode,
    ])
    expect(exitCodes).toEqual(OURS.map((service) => [service, 0]))
  })

  test('services taken down and brought up again still have everything', async () => {
    // In a memory-only registry its id would be free again; ours keeps it.
    const other = await register(OTHER)
    const ours = await schemaId(REPORTED)
    const before = [await stored(), await eventsInLog()]

    await project.compose('down')
    await project.up()

    expect([await stored(), await eventsInLog()]).toEqual(before)
    expect(await history()).toEqual(POINTS)
    expect([await schemaId(OTHER), await schemaId(REPORTED)]).toEqual([other, ours])
  })

  test('the same track sent again adds nothing', async () => {
    expect(await sendTrack()).toBe(0)
    // It follows the repeats in the same partition: once it is stored, they were processed.
    const last = { latitude: -33.5, longitude: 151.25 }
    const timestamp = '2025-06-02T00:00:00Z'
    const answer = await call(`${ingestUrl}/api/v1/gps/submit`, {
      method: 'POST',
      body: JSON.stringify({ deviceId: 'walker', ...last, timestamp }),
    })
    const { recordId } = answer as { recordId: string }
    const after = await eventually(
      async () => {
        const status = await device()
        return status.lastPosition.recordId === recordId && status
      },
      { withinMs: 30_000, everyMs: 200 },
    )
    expect(after.reportCount).toBe(POINTS.length + 1)
    expect(await history()).toEqual([...POINTS, last])
  })

  async function newKey(): Promise<string> {
    const signedIn = await fetch(`${adminUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(operator),
    })
    const [cookie = ''] = signedIn.headers.get('Set-Cookie')?.split(';') ?? []
    const scopes = ['positions:write', 'positions:read', 'devices:read']
    const made = await call(`${adminUrl}/api/v1/keys`, {
      method: 'POST',
      headers: { Cookie: cookie, 'X-Requested-With': 'console' },
      body: JSON.stringify({ name: 'compose', scopes }),
    })
    return (made as { key: string }).key
  }

  /** Runs `npm run simulate`; returns its exit code. */
  async function sendTrack(): Promise<number | string> {
    const args = ['--url', ingestUrl, '--gpx', track, '--device', 'walker', '--times', 'original']
    return startProgram('commands/simulate/main', { args, env: { GPS_KEY: key } }).ended
  }

  /** The stored device, without `status`, which depends on when it is read. */
  async function stored(): Promise<object> {
    return { ...(await device()), status: undefined }
  }

  async function device() {
    const status = await call(`${adminUrl}/api/v1/devices/walker`)
    return status as { reportCount: number; lastPosition: { recordId: string } }
  }

  async function history() {
    const page = await call(`${adminUrl}/api/v1/devices/walker/positions?order=asc&limit=1000`)
    const { items } = page as { items: { latitude: number; longitude: number }[] }
    return items.map(({ latitude, longitude }) => ({ latitude, longitude }))
  }

  /** The response envelope's `data`. @throws on any other response. */
  async function call(url: string, { headers = {}, ...init }: RequestInit = {}): Promise<unknown> {
    const credentials = key === undefined ? {} : { Authorization: `Bearer ${key}` }
    const answer = await fetch(url, {
      ...init,
      headers: { 'Content-Type': 'application/json', ...credentials, ...headers },
    })
    const body = (await answer.json()) as { success: boolean; data: unknown }
    if (!body.success) throw new Error(`${url}: ${JSON.stringify(body)}`)
    return body.data
  }

  /** Kafka and the registry publish no ports, so they are queried from inside. */
  async function eventsInLog(): Promise<number> {
    const script = `
      import kafkajs from 'kafkajs'
      const admin = new kafkajs.Kafka({ brokers: ['kafka:9092'] }).admin()
      const partitions = await admin.fetchTopicOffsets('gps.position-reported')
      console.log(partitions.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0))
      await admin.disconnect()`
    return Number(await project.evaluate('ingest-api', script))
  }

  async function register(subject: string): Promise<number> {
    const schema = JSON.stringify({ type: 'record', name: 'Other', fields: [] })
    return askRegistry(`${SUBJECTS}/${subject}/versions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema }),
    })
  }

  async function schemaId(subject: string): Promise<number> {
    return askRegistry(`${SUBJECTS}/${subject}/versions/latest`, {})
  }

  async function askRegistry(url: string, init: object): Promise<number> {
    const script = `
      const answer = await fetch(${JSON.stringify(url)}, ${JSON.stringify(init)})
      console.log(await answer.text())`
    const answer = JSON.parse(await project.evaluate('ingest-api', script)) as { id?: number }
    if (answer.id === undefined) throw new Error(`${url}: ${JSON.stringify(answer)}`)
    return answer.id
  }
})
