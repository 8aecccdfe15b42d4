import { expect, test } from '@jest/globals'
import { answersTo, oddTargets, pathsIn, withoutFault } from '../odd-targets.ts'
import { adminForAllTests, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
adminForAllTests((given) => ({ harness } = given))

test('odd forms of every path get the error envelope, never with a 500', async () => {
  const { secret: key } = await harness.createKey()
  const document = await (await fetch(`${harness.url}/openapi.json`)).json()
  const paths = pathsIn(document as object)
  expect(paths.length).toBeGreaterThan(30)
  for (const { path, methods } of paths) {
    for (const [at, method] of [...methods, 'PUT'].entries()) {
      const targets = oddTargets(path).filter((_, index) => index % (methods.length + 1) === at)
      const answers = await answersTo(harness.url, targets, { method, key })
      expect(answers.filter((answer) => !withoutFault(answer))).toEqual([])
    }
  }
  const levels = harness.logged.map((line) => (JSON.parse(line) as { level: number }).level)
  expect(levels.filter((level) => level >= 40)).toEqual([])
})

test('paths are case-sensitive', async () => {
  const { secret } = await harness.createKey()
  const headers = { Authorization: `Bearer ${secret}` }
  expect((await fetch(`${harness.url}/api/v1/devices`, { headers })).status).toBe(200)
  for (const path of ['/API/v1/devices', '/api/v1/Devices', '/api/v1/devices/', '/HEALTHZ']) {
    expect((await fetch(harness.url + path, { headers })).status).toBe(404)
  }
})
