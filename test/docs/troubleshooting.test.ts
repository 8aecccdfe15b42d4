import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { allTexts, userMessages, type UserMessage } from '../messages/user-messages.ts'

const page = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8')
const onPage = [...page.matchAll(/^\| +`([^`]+)`/gm)].map(([, message = '']) => message)

/** Files whose errors abort a start. */
const START =
  /^(runtime\/listen|runtime\/sqlite|store\/retention|store\/mongo\/schema|embedded\/|projector\/same-log|event-log\/sqlite\/log-reader|admin-api\/app)/
/** Responses about several fields. */
const ANSWERS =
  /^(ConfigError|unavailable|refuse|ApiFailure|ApiError '(UNAUTHORIZED|FORBIDDEN|RATE_LIMITED|PAYLOAD_TOO_LARGE|UNSUPPORTED_MEDIA_TYPE|SERVER_ERROR|CONFLICT)')/
/** Messages that occur during shutdown, or only after a programming error. */
const NOT_FOR_USERS = [
  'CONNECT is not served',
  'this is not a program: start embedded/main',
  'the other thread of this process has ended',
  'the worker thread has ended with code …',
  'the event log is closed',
  'the event log is closing',
  'the request was cut off',
  'the operator has been removed',
]

/** Whether a text starts with a message, in which `…` matches anything. */
function isOf(message: string, text: string): boolean {
  const fixed = message.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${fixed.join('.*')}`, 's').test(text)
}

const isImportant = ({ by, file }: UserMessage) =>
  ANSWERS.test(by) || (/^(Dependency)?Error$/.test(by) && START.test(file))

test('every message of docs/troubleshooting.md is one of the code', () => {
  const texts = allTexts().filter((text) => text.split(/\s+/).length > 2)
  const isInCode = (message: string) =>
    texts.some((text) => isOf(message, text) || (/\w+ \w+ \w+/.test(text) && isOf(text, message)))
  expect(onPage.filter((message) => !isInCode(message))).toEqual([])
  expect(onPage.length).toBeGreaterThan(60)
})

test('every important message of the code is in docs/troubleshooting.md', () => {
  const important = userMessages().filter(isImportant)
  const missing = important
    .map(({ texts }) => texts.join('…'))
    .filter((text) => !NOT_FOR_USERS.includes(text))
    .filter((text) => !onPage.some((message) => isOf(message, text) || isOf(text, message)))
  expect(missing).toEqual([])
  expect(important.length).toBeGreaterThan(50)
})
