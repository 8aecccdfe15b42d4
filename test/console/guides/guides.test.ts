import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Guide, Setup } from '../../../console/guides/guide.ts'
import { guideOf, GUIDES } from '../../../console/guides/guides.ts'
import { pages } from '../../../console/guides/to-markdown.ts'
import { everyGuide, KEY_SHAPED, ODD_ID } from './every-guide.ts'

const setup: Setup = { address: 'https://gps.example', key: KEY_SHAPED, deviceId: ODD_ID }
let guides: ReadonlyMap<string, Guide>

beforeAll(async () => {
  guides = await everyGuide()
})

function guide(id: string): Guide {
  const found = guides.get(id)
  if (found === undefined) throw new Error(`no guide ${id}`)
  return found
}

function link(id: string, changes: Partial<Setup> = {}): URL {
  return new URL(guide(id).link?.({ ...setup, ...changes }).url ?? '')
}

function entriesOf(id: string, changes: Partial<Setup> = {}) {
  return guide(id)
    .steps({ ...setup, ...changes })
    .flatMap(({ entries = [] }) => entries)
}

describe('the guides', () => {
  test('docs/senders matches them: if not, run npm run docs:senders', async () => {
    const folder = fileURLToPath(new URL('../../../docs/senders', import.meta.url))
    const there = readdirSync(folder).map(
      (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
    )
    expect(new Map(there)).toEqual(await pages())
  })

  test('the guides are listed under their id and name', async () => {
    for (const { id, name, load } of GUIDES.flatMap(({ guides }) => guides)) {
      expect(await load()).toMatchObject({ id, name })
      expect(guideOf(id).name).toBe(name)
    }
    expect(guideOf('none').id).toBe('owntracks-android')
  })

  test('the guides have key and address filled in, and every backtick is paired', () => {
    for (const [id, { about, steps, troubles, link }] of guides) {
      const made = steps(setup)
      const entered = JSON.stringify(made)
      expect([id, entered.includes(KEY_SHAPED), entered.includes('https://gps.example')]).toEqual([
        id,
        true,
        true,
      ])
      const texts = [about, ...made.map(({ text }) => text), ...troubles, link?.(setup).text ?? '']
      expect([id, texts.filter((text) => text.split('`').length % 2 === 0)]).toEqual([id, []])
    }
  })
})

describe('the links', () => {
  test.each(['owntracks-android', 'owntracks-ios'])(
    'the link of %s is a configuration in HTTP mode',
    (id) => {
      const { protocol, host, pathname, search } = link(id)
      expect([protocol, host, pathname]).toEqual(['owntracks:', '', '/config'])
      // As apps parse it, for which + is a plus.
      const inline = decodeURIComponent(/^\?inline=([^&]*)$/.exec(search)?.[1] ?? '')
      expect(JSON.parse(Buffer.from(inline, 'base64').toString('utf8'))).toMatchObject({
        _type: 'configuration',
        mode: 3,
        auth: true,
        url: 'https://gps.example/api/v1/senders/owntracks',
        username: 'owntracks',
        password: KEY_SHAPED,
        deviceId: ODD_ID,
      })
    },
  )

  test('the link of Overland has address, token and device id', () => {
    const url = link('overland')
    expect(`${url.protocol}//${url.host}`).toBe('overland://setup')
    const parts = url.search.slice(1).split('&')
    expect(parts.map((part) => part.split('=').map(decodeURIComponent))).toEqual([
      ['url', 'https://gps.example/api/v1/senders/overland'],
      ['token', KEY_SHAPED],
      ['device_id', ODD_ID],
    ])
  })

  test('the link of Colota is a configuration with a bearer token', () => {
    const url = link('colota')
    expect(`${url.protocol}//${url.host}`).toBe('colota://setup')
    const config = decodeURIComponent(/^\?config=(.*)$/.exec(url.search)?.[1] ?? '')
    expect(JSON.parse(Buffer.from(config, 'base64').toString('utf8'))).toMatchObject({
      endpoint: 'https://gps.example/api/v1/senders/overland',
      customFields: [{ key: 'device_id', value: ODD_ID }],
      auth: { type: 'bearer', bearerToken: KEY_SHAPED },
    })
  })

  test('Traccar Client keeps origin and path, so the key is in the path', () => {
    const url = link('traccar-client')
    expect(url.origin + url.pathname).toBe(
      `https://gps.example/api/v1/senders/traccar/${KEY_SHAPED}`,
    )
    expect(url.origin + url.pathname).toBe(entriesOf('traccar-client')[0]?.text)
    expect(url.searchParams.get('id')).toBe(ODD_ID)
  })
})

describe('values to enter', () => {
  test('OwnTracks: an id of two parts is user and device, and any other id arrives unchanged', () => {
    const { arrivesAs } = guide('owntracks-android')
    expect(arrivesAs?.('my-device')).toBe('owntracks/my-device')
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z/]{1,12}$/), (deviceId) => {
        const arrived = arrivesAs?.(deviceId) ?? ''
        // Once adopted as the device's id, it stays.
        expect(arrivesAs?.(arrived)).toBe(arrived)
      }),
    )
    const titles = Object.fromEntries(
      entriesOf('owntracks-android', { deviceId: 'jane/phone' }).map(({ title, text }) => [
        title,
        text,
      ]),
    )
    expect(titles).toMatchObject({ Username: 'jane', 'Device ID': 'phone', Password: KEY_SHAPED })
  })

  test('GPSLogger replaces only its own % placeholders', () => {
    const body = entriesOf('gpslogger').find(({ title }) => title === 'HTTP body')?.text ?? ''
    const filled = body.replaceAll('%TIME', 'T').replaceAll(/%(LAT|LON|ACC|ALT)/g, '1.5')
    expect(JSON.parse(filled)).toEqual({
      deviceId: ODD_ID,
      latitude: 1.5,
      longitude: 1.5,
      timestamp: 'T',
      accuracy: 1.5,
      altitude: 1.5,
    })
  })

  test('Arduino’s string is a printf format, and certificates are checked over TLS', () => {
    const [{ text = '' } = {}] = entriesOf('arduino')
    const [, literal = ''] = /snprintf\(body, sizeof body, (".*"), latitude/.exec(text) ?? []
    const format = JSON.parse(literal) as string
    expect(format.replaceAll(/%\.6f|%%/g, '')).not.toContain('%')
    const body = format.replaceAll('%.6f', '1.5').replaceAll('%%', '%')
    expect(JSON.parse(body)).toEqual({ deviceId: ODD_ID, latitude: 1.5, longitude: 1.5 })
    expect(text).toContain('client.setCACert(AUTHORITY)')
    const plain = entriesOf('arduino', { address: 'http://10.0.0.2:8080' })[0]?.text
    expect(plain).not.toContain('CACert')
  })
})
