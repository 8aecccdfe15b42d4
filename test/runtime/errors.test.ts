import { expect, test } from '@jest/globals'
import { DependencyError, invalidParams, toApiError } from '../../runtime/errors.ts'

const faults = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ field: `f${n}`, message: `f${n} is wrong` }))

test('a request with up to 20 faults gets them all in the error', () => {
  const { details, message } = invalidParams(faults(20))
  expect(details).toEqual(faults(20))
  expect(message).toMatch(/^f0 is wrong; f1 is wrong; .*; f19 is wrong$/)
})

test('more than 20 faults are reported as 20 and the number of others', () => {
  const { details, message } = invalidParams(faults(5_000))
  expect(details).toEqual(faults(20))
  expect(message).toMatch(/; f19 is wrong; and 4980 more$/)
})

test('the response to an internal error reveals nothing internal', () => {
  expect(toApiError(new Error('secret')).message).toBe('something went wrong in the service')
  const away = new DependencyError('secret', { retriable: true })
  expect(toApiError(away).message).toBe(
    'the service cannot do this right now, please send it again',
  )
})
