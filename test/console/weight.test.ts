import { describe, expect, test } from '@jest/globals'
import { weigh } from '../../bench/console/weight.ts'
import { build } from '../../scripts/build.mjs'

await build()

describe('the weight of the console', () => {
  test('all scripts and styles are at most 250 kB', async () => {
    expect((await weigh()).all).toBeLessThan(250)
  })

  test('files for signing in are at most 40 kB', async () => {
    const { signIn } = await weigh()
    expect(signIn).toBeLessThan(40)
    expect(signIn).toBeGreaterThan(20)
  })
})
