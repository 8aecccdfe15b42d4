import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { multipartFields } from '../../../../schemas/formats/senders/phonetrack.ts'
import { ingestForAllTests, type IngestHarness } from '../../../ingest-api/ingest-harness.ts'
import { rejectionsOf } from '../../../ingest-api/apps/rejections-of.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

const POINT = {
  action: 'addpos',
  lat: '54.3',
  lon: '10.1',
  time: '1767225600',
  accuracy: '5',
  bearing: '90',
  altitude: '30',
  provider: 'gps',
  comment: 'Bergfest 🏔',
  trackid: '1',
}

async function sendPhoto(secret: string, form: FormData) {
  const path = `/log/ulogger/${secret}/van/client/index.php`
  const answer = await fetch(ingest.url + path, { method: 'POST', body: form })
  return { status: answer.status, body: await answer.json() }
}

function formOf(photo: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(POINT)) form.append(name, value)
  form.append('image', new Blob([photo], { type: 'image/jpeg' }), 'upload')
  return form
}

describe('a point with a photo', () => {
  test.each([
    ['small', 100],
    ['of 5 MiB', 5 * 1024 * 1024],
  ])('of μlogger is stored without the photo: %s', async (_, bytes) => {
    const { id, secret } = await ingest.createKey()
    // A photo's bytes are not UTF-8.
    const photo = new Uint8Array(bytes).fill(0xff)
    const answer = await sendPhoto(secret, formOf(photo))
    expect(answer).toEqual({ status: 200, body: { error: false, trackid: 1 } })
    const events = (await ingest.logged()).filter(({ keyId }) => keyId === id)
    expect(events).toMatchObject([
      {
        deviceId: 'van',
        latitude: 54.3,
        longitude: 10.1,
        accuracy: 5,
        heading: 90,
        attributes: { action: 'addpos', comment: 'Bergfest 🏔', provider: 'gps', trackid: 1 },
      },
    ])
  })

  test('that is cut off is rejected', async () => {
    const { id, secret } = await ingest.createKey()
    const path = `/log/ulogger/${secret}/van/client/index.php`
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
    const body = '--x\r\nContent-Disposition: form-data; name="lat"\r\n\r\n1'
    const answer = await fetch(ingest.url + path, { method: 'POST', body, headers })
    expect(answer.status).toBe(200)
    expect(await rejectionsOf(ingest, id)).toMatchObject([
      { message: 'the body must be well-formed multipart/form-data' },
    ])
  })
})

describe('multipartFields', () => {
  test('any fields, as a browser writes them, are read; files are skipped', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll(/[\r\n"]/g, ''))
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          text.filter((name) => name !== '' && !/[;\\]/.test(name) && !(name in {})),
          text,
        ),
        fc.uint8Array({ maxLength: 2_000 }),
        async (fields, file) => {
          const form = new FormData()
          const bytes = new Uint8Array(file)
          form.append('before', new Blob([bytes]), 'a')
          for (const [name, value] of Object.entries(fields)) form.append(name, value)
          form.append('after', new Blob([bytes]), 'b')
          const request = new Request('http://x', { method: 'POST', body: form })
          const type = request.headers.get('content-type') ?? ''
          const read = multipartFields(Buffer.from(await request.arrayBuffer()), type)
          expect({ ...read }).toEqual({ ...fields })
        },
      ),
      { numRuns: 50 },
    )
  })

  test.each([
    ['no boundary', 'multipart/form-data', '--x--'],
    ['another boundary', 'multipart/form-data; boundary=y', '--x--'],
    ['no end', 'multipart/form-data; boundary=x', '--x\r\n\r\n'],
    ['parts without end', 'multipart/form-data; boundary=x', '--x\r\n'.repeat(200)],
  ])('is undefined with %s', (_, type, body) => {
    expect(multipartFields(Buffer.from(body), type)).toBeUndefined()
  })

  test('accepts a quoted boundary and unquoted names, and uses the first of repeated fields', () => {
    const part = (value: string) =>
      `\r\n--a b\r\ncontent-disposition: form-data; name=lat\r\n\r\n${value}`
    const body = Buffer.from(`${part('1')}${part('2')}\r\n--a b--\r\n`)
    expect(multipartFields(body, 'multipart/form-data; boundary="a b"')).toEqual({ lat: '1' })
  })
})
