import { getEventListeners } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { eventually } from '../../eventually.ts'
import {
  eventReader,
  openStream,
  type OpenStreamOptions,
  type StreamEvent,
} from '../../../console/live/open-stream.ts'

describe('a stream', () => {
  type Answer = (response: ServerResponse) => void
  let server: Server
  let answers: Answer[]
  let asked: number
  let marks: unknown[]
  let close = () => undefined as void

  beforeEach(async () => {
    answers = []
    asked = 0
    marks = []
    server = createServer((request, response) => {
      asked += 1
      marks.push(request.headers['last-event-id'])
      const answer = answers.shift()
      if (answer === undefined) response.writeHead(500).end()
      else answer(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })

  afterEach(async () => {
    close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  function open(options: Partial<OpenStreamOptions> = {}) {
    const seen = {
      opened: 0,
      resumed: [] as boolean[],
      lost: [] as number[],
      events: [] as string[],
    }
    const stream = openStream({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      onOpen({ isResumed }) {
        seen.opened += 1
        seen.resumed.push(isResumed)
      },
      onEvents: (events) => seen.events.push(...events.map(({ data }) => data)),
      onLost: (status) => seen.lost.push(status),
      onUnauthorized: () => Promise.resolve(false),
      firstDelayMs: 5,
      ...options,
    })
    close = () => stream.close()
    return seen
  }

  const refuse =
    (status: number, headers = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end()
  const tell = (data: string, id?: string) => (response: ServerResponse) =>
    void response
      .writeHead(200, { 'Content-Type': 'text/event-stream' })
      .write(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
  const tellAndEnd = (data: string, id?: string) => (response: ServerResponse) => {
    tell(data, id)(response)
    response.end()
  }

  test('a stream that was rejected or has ended is reopened', async () => {
    answers = [refuse(503), refuse(429), tellAndEnd('first'), tell('second')]
    const seen = open()
    await eventually(() => seen.events.length === 2)
    expect(seen).toMatchObject({
      opened: 2,
      resumed: [false, false],
      lost: [503, 429, 200],
      events: ['first', 'second'],
    })
  })

  test('a stream that ends after each opening is opened less and less often', async () => {
    answers = Array.from({ length: 20 }, () => tellAndEnd('again'))
    const begun = performance.now()
    open()
    await eventually(() => asked >= 8)
    // Half of each delay is random: 5, 10, 20 ... 320 ms.
    expect(performance.now() - begun).toBeGreaterThan(310)
  })

  test('a stream that was open for long is reopened immediately', async () => {
    answers = Array.from({ length: 20 }, () => tellAndEnd('again'))
    open({ settledMs: 0 })
    // With growing delays this would take a minute.
    await eventually(() => asked >= 15)
  })

  test('a stream that is reopened often keeps no timers of earlier pauses', async () => {
    const any = jest.spyOn(AbortSignal, 'any')
    answers = Array.from({ length: 20 }, () => tellAndEnd('again'))
    open({ settledMs: 0 })
    await eventually(() => asked >= 15)
    const [[closing] = []] = any.mock.calls[0] ?? []
    any.mockRestore()
    expect(getEventListeners(closing!, 'abort').length).toBeLessThan(3)
  })

  test('a stream resumes after the last event it has seen, and says so', async () => {
    answers = [
      tellAndEnd('first', 'mark-1'),
      tellAndEnd('second'),
      refuse(503),
      tell('third', 'mark-2'),
    ]
    const seen = open()
    await eventually(() => seen.events.length === 3)
    expect(marks).toEqual([undefined, 'mark-1', 'mark-1', 'mark-1'])
    expect(seen.resumed).toEqual([false, true, true])
  })

  test('a stream starts from now if its mark is too old or refused', async () => {
    answers = [tellAndEnd('first', 'mark-1'), refuse(400), tell('second')]
    const refused = open({ resumeAfter: 'mark-0' })
    await eventually(() => refused.events.length === 2)
    expect(marks).toEqual(['mark-0', 'mark-1', undefined])
    expect(refused.resumed).toEqual([true, false])
    close()
    marks = []
    answers = [tellAndEnd('first', 'mark-1'), tell('second')]
    const late = open({ resumeMs: 0, firstDelayMs: 20 })
    await eventually(() => late.events.length === 2)
    expect(marks).toEqual([undefined, undefined])
  })

  test('a stream waits as long as Retry-After says', async () => {
    answers = [refuse(429, { 'Retry-After': '1' }), tell('after')]
    const begun = performance.now()
    const seen = open()
    await eventually(() => seen.events.length === 1)
    expect(performance.now() - begun).toBeGreaterThan(990)
  })

  test('a stream that dies silently counts as lost', async () => {
    answers = [tell('first'), tell('second')]
    const seen = open({ silentMs: 1_000 })
    await eventually(() => seen.events.includes('second'))
    expect(seen.lost[0]).toBe(200)
  })

  test('a stream whose session has ended resumes once it is renewed, and otherwise stays closed', async () => {
    answers = [refuse(401), tellAndEnd('in again'), refuse(401)]
    const answersToAsk = [true, false]
    const seen = open({ onUnauthorized: () => Promise.resolve(answersToAsk.shift() ?? false) })
    await eventually(() => seen.lost.length === 3)
    expect(seen).toMatchObject({ opened: 1, lost: [401, 200, 401], events: ['in again'] })
    expect(asked).toBe(3)
  })

  test('a stream is not reopened after a final response', async () => {
    answers = [refuse(404), tell('never')]
    const seen = open({ final: [404] })
    await eventually(() => seen.lost.length === 1)
    expect(asked).toBe(1)
  })
})

const TEXT =
  'retry: 2000\n\n: comment\n\nevent: position\nid: 1-a\ndata: {"a":1}\n\n' +
  'data: first\r\ndata:second\r\n\r\nevent: heartbeat\nid: 2\ndata: {}\n\nevent: nothing\n\ndata: cut o'
const EVENTS = [
  { name: 'position', data: '{"a":1}', id: '1-a' },
  { name: 'message', data: 'first\nsecond', id: '1-a' },
  { name: 'heartbeat', data: '{}', id: '2' },
]

test('the text of a stream gives the same events in pieces of any size', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: TEXT.length })), (cuts) => {
      const told: StreamEvent[] = []
      const read = eventReader()
      const places = [0, ...cuts.sort((a, b) => a - b), TEXT.length]
      for (const [index, from] of places.entries()) {
        told.push(...read(TEXT.slice(from, places[index + 1])))
      }
      expect(told).toEqual(EVENTS)
    }),
  )
})
