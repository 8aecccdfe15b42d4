import { describe, expect, test } from '@jest/globals'
import { weigh } from './weight.ts'
import { build } from '../../scripts/build.mjs'

await build()

describe('the weight of the console', () => {
  test('all scripts and styles of its pages are at most 265 kB', async () => {
    expect((await weigh()).all).toBeLessThan(265)
  })

  test('the readers of histories, which load once files are chosen, are at most 40 kB', async () => {
    const { readers } = await weigh()
    expect(readers).toBeLessThan(40)
    expect(readers).toBeGreaterThan(10)
  })

  test('files for signing in are at most 40 kB', async () => {
    const { signIn } = await weigh()
    expect(signIn).toBeLessThan(40)
    expect(signIn).toBeGreaterThan(20)
  })
})
