import { describe, expect, test } from '@jest/globals'
import { weigh } from './weight.ts'
import { build } from '../../scripts/build.mjs'

await build()

describe('the weight of the console', () => {
  test('scripts and styles are at most 260 kB when the map is displayed, and 270 kB with all other pages', async () => {
    const { map, all } = await weigh()
    expect(map).toBeLessThan(260)
    expect(map).toBeGreaterThan(150)
    expect(all).toBeLessThan(270)
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
