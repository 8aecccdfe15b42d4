import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import {
  mediaTypeOf,
  SenderRequest,
  targetOf,
} from '../../../ingest-api/admission/sender-request.ts'
import { HttpAnswer } from '../../../runtime/http/in-flight.ts'

function request(headers: Record<string, string>, url = '/') {
  const http = {
    headers,
    url,
    socket: { remoteAddress: '192.0.2.1' },
  } as unknown as IncomingMessage
  const answer = new HttpAnswer(new IncomingMessage(new Socket()))
  return new SenderRequest(http, targetOf(http), answer)
}

test.each([
  ['/pub?u=a&d=b', '/pub', 'u=a&d=b'],
  ['/pub', '/pub', ''],
  ['/pub?u=a#top', '/pub', 'u=a'],
  ['/pub#top?u=a', '/pub', ''],
])('the request target %s has the path %s and the query %j', (url, path, query) => {
  expect(targetOf({ url } as IncomingMessage)).toEqual({ path, query })
})

test.each(['application/json', 'Application/JSON; charset=utf-8', 'application/json ;x=1'])(
  'the media type of %j is lower-case and without parameters',
  (type) => {
    expect(mediaTypeOf(request({ 'content-type': type }))).toBe('application/json')
  },
)
