import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const versionOf = (file: string) => (JSON.parse(read(file)) as { version: string }).version

test('the client, its README, the lock file and the changelog have the version of the service', () => {
  const version = versionOf('package.json')
  expect(versionOf('client/package.json')).toBe(version)
  expect(versionOf('package-lock.json')).toBe(version)
  const packed = read('client/README.md').match(/gps-position-client-\S+\.tgz/g) ?? []
  expect(new Set(packed)).toEqual(new Set([`gps-position-client-${version}.tgz`]))
  const newest = /^## (.+)$/m.exec(read('CHANGELOG.md'))?.[1]
  expect(newest).toMatch(version.endsWith('-dev') ? /^Unreleased$/ : `${version} - `)
})
