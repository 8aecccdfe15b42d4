import { expect, test } from '@jest/globals'
import { matchPath } from '../../../console/core/match-path.ts'

test('a path gives its parameters', () => {
  expect(matchPath('/', '/')).toEqual({})
  expect(matchPath('/keys', '/keys')).toEqual({})
  expect(matchPath('/keys', '/keys/')).toEqual({})
  expect(matchPath('/devices/:deviceId', '/devices/van-1')).toEqual({ deviceId: 'van-1' })
})

test.each(['a/b', '%', '../x', '😀'.repeat(64), '\u202Eabc', ' a b ', '<img onerror>'])(
  'the id %p survives the address',
  (deviceId) => {
    const path = `/devices/${encodeURIComponent(deviceId)}`
    expect(matchPath('/devices/:deviceId', path)).toEqual({ deviceId })
  },
)

test('another path does not match', () => {
  expect(matchPath('/keys', '/')).toBeUndefined()
  expect(matchPath('/keys', '/keys/x')).toBeUndefined()
  expect(matchPath('/devices/:deviceId', '/devices')).toBeUndefined()
})

test.each(['/devices/%', '/devices/%E0%A4', '/devices/%FF'])('%s cannot be read', (path) => {
  expect(matchPath('/devices/:deviceId', path)).toBe('unreadable')
})
