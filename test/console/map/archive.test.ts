import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { EtagMismatch } from 'pmtiles'
import { Archive } from '../../../console/map/archive.ts'

let file: { readonly etag: string; readonly bytes: Buffer } | undefined
let asked: string[] = []
const server = createServer((request, response) => {
  const [, first = '0', last = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
  asked.push(`${first}-${last}`)
  if (file === undefined) return response.writeHead(404).end()
  const part = file.bytes.subarray(Number(first), Number(last) + 1)
  return response.writeHead(206, { ETag: file.etag, 'Content-Length': part.length }).end(part)
})
let url = ''

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})
beforeEach(() => {
  file = { etag: '"1"', bytes: Buffer.alloc(100_000, 'abcdefghij') }
  asked = []
})

const text = ({ data }: { data: ArrayBuffer }) => Buffer.from(data).toString()

test('the start of a map file is requested once, for all requests for its parts', async () => {
  const archive = new Archive(url)
  const parts = await Promise.all([archive.getBytes(0, 5), archive.getBytes(65_530, 6)])
  expect(parts.map(text)).toEqual(['abcde', 'abcdef'])
  expect(asked).toEqual(['0-65535'])
  expect(text(await archive.getBytes(65_533, 6, undefined, '"1"'))).toBe('defghi')
  expect(asked).toEqual(['0-65535', '65533-65538'])
})

test('a missing map file is requested again', async () => {
  const archive = new Archive(url)
  const made = file
  file = undefined
  await expect(archive.start()).rejects.toThrow('404')
  file = made
  expect(text(await archive.getBytes(10, 2))).toBe('ab')
})

test('a map file that has changed is read again from its start', async () => {
  const archive = new Archive(url)
  const { etag } = await archive.getBytes(0, 5)
  file = { etag: '"2"', bytes: Buffer.alloc(100_000, 'x') }
  await expect(archive.getBytes(70_000, 2, undefined, etag)).rejects.toThrow(EtagMismatch)
  expect(await archive.getBytes(0, 2)).toMatchObject({ etag: '"2"' })
  expect(text(await archive.getBytes(4, 2, undefined, '"2"'))).toBe('xx')
})
