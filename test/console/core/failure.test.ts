import { expect, test } from '@jest/globals'
import { failureOf, sentence, unreachable } from '../../../console/core/failure.ts'

test('the page says what to do when the service cannot be reached', () => {
  expect(sentence(unreachable(new TypeError('Failed to fetch')).message)).toBe(
    'The service cannot be reached: check the network, then try again.',
  )
})

test('the page says the status of an answer that is not one of the service', () => {
  const { message, error } = failureOf({ status: 502, headers: new Headers() }, undefined)
  expect({ message, error }).toEqual({ message: 'the service answered 502', error: 'HTTP_502' })
})
