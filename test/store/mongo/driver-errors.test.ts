import { expect, test } from '@jest/globals'
import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoTopologyClosedError,
  type BulkWriteResult,
} from 'mongodb'
import {
  dependencyError,
  duplicatesOf,
  isDuplicateKey,
} from '../../../store/mongo/driver-errors.ts'

const DUPLICATE = { index: 2, code: 11_000 }

test.each([
  ['a lost connection', new MongoNetworkError('connection closed'), true],
  ['no response', new MongoNetworkTimeoutError('timed out'), true],
  ['a closed client', new MongoTopologyClosedError(), true],
  ['a primary that stepped down', new MongoServerError({ code: 10_107 }), true],
  ['a write concern that was not met', new MongoServerError({ code: 64 }), true],
  ['a full disk', new MongoServerError({ code: 14_031 }), true],
  ['a lost connection under a bulk', bulkError(new MongoNetworkError('closed'), []), true],
  ['what the server says is transient', transient(), true],
  ['a key that is taken', new MongoServerError({ code: 11_000 }), false],
  ['a bad query', new MongoServerError({ code: 2 }), false],
  ['a bad argument', new MongoInvalidArgumentError('no'), false],
])('a driver error says whether a retry can help: %s', (_name, error, retriable) => {
  expect(dependencyError(error)).toMatchObject({
    name: 'DependencyError',
    retriable,
    cause: error,
  })
})

test('an error for lack of rights names the roles that the user lacks', () => {
  const error = new MongoServerError({ code: 13, message: 'not authorized on gps' })
  expect(dependencyError(error)).toMatchObject({
    retriable: false,
    message: expect.stringContaining('needs the roles readWrite and dbAdmin'),
  })
})

test('errors from elsewhere do not change', () => {
  const bug = new TypeError('a bug')
  expect(dependencyError(bug)).toBe(bug)
  expect(isDuplicateKey(bug)).toBe(false)
})

test('an error counts as a duplicate only if nothing else went wrong', () => {
  expect(duplicatesOf(bulkError(new Error('E11000'), [DUPLICATE]))).toEqual([2])
  const other = { index: 3, code: 2 }
  expect(duplicatesOf(bulkError(new Error('E11000'), [DUPLICATE, other]))).toBeUndefined()
  expect(duplicatesOf(bulkError(new MongoNetworkError('closed'), []))).toBeUndefined()
  const notByMajority = bulkError(new Error('E11000'), [DUPLICATE], { code: 64 })
  expect(duplicatesOf(notByMajority)).toBeUndefined()
  expect(isDuplicateKey(notByMajority)).toBe(false)
  expect(isDuplicateKey(new MongoServerError({ code: 11_000 }))).toBe(true)
})

/** In the driver's form: a failure of the whole is its own cause, single ones are listed. */
function bulkError(error: Error, writeErrors: object[], writeConcernError?: object) {
  const result = { getWriteConcernError: () => writeConcernError } as unknown as BulkWriteResult
  return Object.assign(new MongoBulkWriteError(error, result), { writeErrors })
}

function transient(): MongoServerError {
  return new MongoServerError({ code: 999, errorLabels: ['RetryableWriteError'] })
}
