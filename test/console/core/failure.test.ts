import { expect, test } from '@jest/globals'
import {
  failureOf,
  sentence,
  unreachableFailure,
  faultText,
} from '../../../console/core/failure.ts'

test('the page says what to do when the service cannot be reached', () => {
  expect(sentence(unreachableFailure(new TypeError('Failed to fetch')).message)).toBe(
    'The service cannot be reached: check the network, then try again.',
  )
})

test('the page shows the status of a response that is not from the service', () => {
  const { message, error } = failureOf({ status: 502, headers: new Headers() }, undefined)
  expect({ message, error }).toEqual({
    message: 'the service responded with 502',
    error: 'HTTP_502',
  })
})

test.each([
  ['Name', 'Enter a name.'],
  ['E-mail', 'Enter an e-mail.'],
  ['Device id', 'Enter a device id.'],
  ['API key', 'Enter an API key.'],
])('an empty field %s gets a message that says what to do', (label, words) => {
  expect(faultText({ field: 'x', message: 'x must be a text' }, label, true)).toBe(words)
})

test('a message about a field names it as the form does', () => {
  const message = 'admin.password must have at least 12 characters'
  expect(faultText({ field: 'admin.password', message }, 'Password', false)).toBe(
    'Password must have at least 12 characters.',
  )
})

test('the page’s own message at an empty field stays', () => {
  const message = 'Choose at least one device.'
  expect(faultText({ field: 'deviceIds', message }, 'Devices', true)).toBe(message)
})

test('any other message stays, as a sentence', () => {
  const message = 'one of the devices is not yours'
  expect(faultText({ field: 'deviceIds[0]', message }, 'Devices', false)).toBe(
    'One of the devices is not yours.',
  )
})
