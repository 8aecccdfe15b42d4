import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { freePort } from '../services/own-server.ts'
import { describeContainers, docker } from './docker.ts'

await describeContainers('docker run', () => {
  const name = `gps-test-${randomBytes(4).toString('hex')}`
  let [ingestUrl, adminUrl] = ['', '']

  beforeAll(async () => {
    await docker('build', '--quiet', '--tag', name, '.')
    await start()
  }, 900_000)

  afterAll(async () => {
    await docker('rm', '--force', '--volumes', name)
    await docker('volume', 'rm', '--force', name)
    await docker('image', 'rm', '--force', name)
  })

  /** A container with the image's default command, started with minimal privileges. */
  async function start(): Promise<void> {
    const [ingestPort, adminPort] = [await freePort(), await freePort()]
    ingestUrl = `http://127.0.0.1:${ingestPort}`
    adminUrl = `http://127.0.0.1:${adminPort}`
    const hard = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']
    const ports = [`127.0.0.1:${ingestPort}:8080`, `127.0.0.1:${adminPort}:8081`]
    const published = ports.flatMap((port) => ['--publish', port])
    const volume = ['--volume', `${name}:/data`]
    await docker('run', '--detach', '--name', name, ...hard, ...published, ...volume, name)
    const health = ['inspect', '--format', '{{.State.Health.Status}}', name]
    await eventually(async () => (await docker(...health)).trim() === 'healthy', {
      withinMs: 60_000,
      everyMs: 500,
    })
  }

  async function call(url: string, init: RequestInit = {}) {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
    const answer = await fetch(url, { ...init, headers })
    return { status: answer.status, body: (await answer.json()) as { data: Device } }
  }
  type Device = { readonly reportCount: number; readonly recordId: string }
  const logs = () => docker('logs', name)
  let key = ''

  test('the first password and key are in the container’s log, and a report sent with the key can be read', async () => {
    const text = await logs()
    expect(text).toMatch(/with the password +\S{12}/)
    key = /Your first API key +(gps_\w{38})/.exec(text)?.[1] ?? ''
    const body = JSON.stringify({ deviceId: 'van', latitude: 52.5, longitude: 13.4 })
    const sent = await call(`${ingestUrl}/api/v1/gps/submit`, { method: 'POST', body })
    expect(sent.status).toBe(200)
    const seen = await eventually(async () => {
      const answer = await call(`${adminUrl}/api/v1/devices/van`)
      return answer.status === 200 && answer.body.data
    })
    expect(seen).toMatchObject({
      reportCount: 1,
      lastPosition: { recordId: sent.body.data.recordId, latitude: 52.5, longitude: 13.4 },
    })
  })

  test('the container runs as an unprivileged user and serves the map', async () => {
    expect((await docker('exec', name, 'id', '-u')).trim()).toBe('1000')
    const page = await fetch(`${adminUrl}/`, { headers: { Accept: 'text/html' } })
    expect(await page.text()).toContain('<!doctype html>')
    const map = await fetch(`${adminUrl}/map/world.pmtiles`, { headers: { Range: 'bytes=0-6' } })
    expect(await map.text()).toBe('PMTiles')
  })

  test('the container ends when stopped, and another one continues with its data', async () => {
    await docker('stop', name)
    expect((await docker('inspect', '--format', '{{.State.ExitCode}}', name)).trim()).toBe('0')
    await docker('rm', name)
    await start()
    expect(await logs()).not.toMatch(/gps_\w{38}|password/)
    expect((await call(`${adminUrl}/api/v1/devices/van`)).body.data.reportCount).toBe(1)
  })
})
