import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { madeRecords } from '../commands/import/made-records.ts'
import { signIn, startEmbeddedDeployment, type Deployment } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { startProgram } from '../programs.ts'

const POINTS = 30_000
const MEASURED = { accuracy: 4.25, altitude: -3.5, speed: 1.1, heading: 359.9, battery: 0.07 }
const ATTRIBUTES = { ignition: true, note: '=1;+2', tank: 0.1, alarm: '7', time: '12.5', ele: '' }
const AT = { timestamp: '2024-01-01T00:00:00.000Z' }
/** Texts that spreadsheets would treat as formulas, and texts that look like guarded ones. */
const DEVICES = ['van', '=1+1', "'=1", 'a;=b', "a;'=b", "'a", '-5', '@x', 'ü;＝"1"']

describe('moving in', () => {
  let from: Deployment
  let to: Deployment

  beforeAll(async () => {
    ;[from, to] = await Promise.all([startEmbeddedDeployment(), startEmbeddedDeployment()])
  })
  afterAll(() => Promise.all([from.remove(), to.remove()]))

  async function importKey({ adminUrl }: Deployment): Promise<string> {
    const operator = await signIn(adminUrl)
    return (await operator.createKey({ scopes: ['positions:import'] })).key
  }

  async function startImport(
    deployment: Deployment,
    args: readonly string[],
    input: string | Iterable<string> = '',
  ) {
    return startProgram('commands/import/main', {
      args: ['--url', deployment.ingestUrl, ...args],
      env: { GPS_KEY: await importKey(deployment) },
      input,
    })
  }

  async function exported(
    { adminUrl, key }: Deployment,
    { deviceId, format }: { deviceId: string; format: string },
  ): Promise<string> {
    const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/positions?format=${format}&order=asc`
    const answer = await fetch(adminUrl + path, { headers: { Authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
    return answer.text()
  }

  test('an import killed halfway and restarted stores each distinct point once', async () => {
    const reader = adminReader(to)
    const stored = async () =>
      (await reader.devices()).find(({ deviceId }) => deviceId === 'phone')?.reportCount ?? 0
    const args = ['--device', 'phone', '-']
    const first = await startImport(to, args, madeRecords(POINTS))
    await eventually(async () => (await stored()) > 0, { withinMs: 60_000 })
    first.process.kill('SIGKILL')
    expect(await first.ended).toBe('SIGKILL')
    for (const run of [1, 2]) {
      const again = await startImport(to, args, madeRecords(POINTS))
      expect([run, await again.ended]).toEqual([run, 0])
      await eventually(async () => (await stored()) === POINTS, { withinMs: 60_000 })
    }
    const positions = await reader.positions('phone')
    expect(positions).toHaveLength(POINTS)
    expect(positions[0]).toMatchObject({ latitude: 52.5, longitude: 13.5, imported: true })
  })

  test.each(['geojson', 'gpx', 'ndjson', 'csv'])(
    'what is exported as %s and imported elsewhere is the same, but for ids, receipt and the mark',
    async (format) => {
      const reports = DEVICES.flatMap((deviceId) =>
        [0, 1].map((n) => ({
          deviceId: `${deviceId}${format}`,
          latitude: -1.5 + n / 3,
          longitude: 179.999999,
          timestamp: new Date(Date.UTC(2024, 0, 1, 0, 0, n)).toISOString(),
          ...(n === 0 && { ...MEASURED, attributes: ATTRIBUTES }),
        })),
      )
      const sent = await fetch(`${from.ingestUrl}/api/v1/gps/batch`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${from.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ reports }),
      })
      expect(await sent.json()).toMatchObject({ data: { accepted: reports.length } })
      const directory = await ownDirectory()
      const ids = DEVICES.map((deviceId) => deviceId + format)
      await eventually(
        async () => (await adminReader(from).positions(ids.at(-1) ?? '')).length === 2,
      )
      const files = await Promise.all(
        ids.map(async (deviceId, index) => {
          const file = join(directory, `${index}.${format}`)
          writeFileSync(file, await exported(from, { deviceId, format }))
          return file
        }),
      )
      const { ended, output } = await startImport(to, files)
      expect([await ended, output()]).toEqual([
        0,
        expect.stringContaining(`accepted: ${reports.length}`),
      ])
      for (const deviceId of ids) {
        await eventually(async () => (await adminReader(to).positions(deviceId)).length === 2)
        const [before, after] = await Promise.all([
          adminReader(from).positions(deviceId),
          adminReader(to).positions(deviceId),
        ])
        expect(after.map(compared)).toEqual(before.map(compared))
        expect(after).toMatchObject([{ imported: true }, { imported: true }])
      }
    },
  )

  test.each(['geojson', 'gpx', 'ndjson', 'csv'])(
    'an import of its own export as %s stores nothing twice',
    async (format) => {
      const directory = await ownDirectory()
      function file(name: string, text: string): string {
        writeFileSync(join(directory, name), text)
        return join(directory, name)
      }
      const line = (deviceId: string, more: object = {}) =>
        JSON.stringify({ deviceId, latitude: 1, longitude: 180, ...AT, ...more })
      const texts = ['7', 'true', '', ' x ', '\ufeff', '\uffff', '<b>']
      const points = texts.map((alarm, n) =>
        line('odd', { longitude: 180 - n, attributes: { ...ATTRIBUTES, alarm } }),
      )
      const first = await startImport(to, [file('first.ndjson', points.join('\n'))])
      expect(await first.ended).toBe(0)
      const reader = adminReader(to)
      await eventually(async () => (await reader.positions('odd')).length === points.length)
      const before = await reader.positions('odd')
      const again = [
        file(`again.${format}`, await exported(to, { deviceId: 'odd', format })),
        file('last.ndjson', line(`after ${format}`)),
      ]
      expect(await (await startImport(to, again)).ended).toBe(0)
      await eventually(async () => (await reader.positions(`after ${format}`)).length === 1)
      expect(await reader.positions('odd')).toEqual(before)
    },
  )
})

/** A record without the fields that an import cannot preserve. */
function compared(record: object): object {
  return { ...record, recordId: undefined, receivedAt: undefined, imported: undefined }
}
