import { expect, test } from '@jest/globals'
import { turnTaker } from '../../runtime/end-of-turn.ts'

test('a turn of more than 10 ms ends, so that other work has its own', async () => {
  const turnEnds = turnTaker()
  let others = 0
  setImmediate(() => (others += 1))
  for (const begin = performance.now(); performance.now() - begin < 11;);
  await turnEnds()
  expect(others).toBe(1)
})
