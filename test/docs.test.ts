import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { csv } from '../admin-api/devices/export/csv.ts'
import { document } from './admin-api/answers-conform.ts'
import { ofCsv } from './admin-api/devices/export/read-files.ts'
import { positionReported } from './samples.ts'

const consumers = readFileSync(new URL('../docs/consumers.md', import.meta.url), 'utf8')

/** The blocks of code in this language, without their indentation. */
function blocks(language: string): string[] {
  const found = [...consumers.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)]
  return found.flatMap(([, indent = '', name, code = '']) =>
    name === language ? [code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  )
}

test('calls of generated clients in consumers.md are in the document', () => {
  const calls = [...consumers.matchAll(/client\.(GET|POST)\('([^']+)'/g)]
  expect(calls).not.toEqual([])
  for (const [, method = '', path = ''] of calls) {
    expect(Object.keys(document.paths)).toContain(path)
    expect(document.paths[path]).toHaveProperty(method.toLowerCase())
  }
})

test('the browser example in consumers.md replaces an EventSource that is permanently closed', () => {
  const sources: { url: string; readyState: number; onerror?: () => void }[] = []
  class EventSource {
    static readonly CLOSED = 2
    readonly url: string
    readyState = 0
    constructor(url: string) {
      this.url = url
      sources.push(this)
    }
  }
  const setTimeout = (listen: () => void) => listen()
  const [code = ''] = blocks('js')
  runInNewContext(`${code}\nlisten()`, { EventSource, setTimeout })
  sources[0]?.onerror?.()
  expect(sources).toHaveLength(1)
  if (sources[0]) sources[0].readyState = EventSource.CLOSED
  sources[0]?.onerror?.()
  expect(sources.map(({ url }) => url)).toEqual(['/api/v1/stream', '/api/v1/stream'])
})

test('the pandas example in consumers.md restores the texts of a CSV export', async () => {
  const deviceIds = [
    '=1+1',
    'a;=1',
    '-a;+b;@c',
    '＝1',
    'a;＠b',
    "'=1",
    "a;''=1",
    "a'b",
    'a;b',
    'tug',
  ]
  const records = deviceIds.map((deviceId) => ({
    ...positionReported({ deviceId }),
    origin: { partition: 0, offset: 0 },
  }))
  async function* pages() {
    yield records
  }
  let text = ''
  for await (const piece of csv.write(pages(), { deviceId: '' }, { gapMs: async () => 0 }))
    text += piece
  const [header = [], ...rows] = ofCsv(text)
  const written = rows.map((row) => row[header.indexOf('deviceId')] ?? '')
  expect(written[0]).toBe("'=1+1")
  const [, pattern = '', put = ''] =
    /replace\(r"(.+?)", r"(.+?)"/.exec(blocks('python').join()) ?? []
  const restore = (id: string) => id.replaceAll(new RegExp(pattern, 'g'), put.replaceAll('\\', '$'))
  expect(written.map(restore)).toEqual(deviceIds)
})
