import { expect, test } from '@jest/globals'
import { awaitReady } from '../../commands/open.ts'

const never = new AbortController().signal

/** Ready on the third check. */
function slow() {
  let asked = 0
  return {
    async ready() {
      asked += 1
      if (asked < 3) throw new Error('not reached yet')
    },
  }
}

test('the program waits for a dependency that is not there yet', async () => {
  await awaitReady([slow(), { ready: async () => undefined }], { withinMs: 10_000, signal: never })
})

test('a dependency that does not become ready is named after the time limit or an abort', async () => {
  const away = {
    async ready() {
      throw new Error('the log is away')
    },
  }
  await expect(awaitReady([away], { withinMs: 300, signal: never })).rejects.toThrow('log is away')
  const signal = AbortSignal.abort()
  await expect(awaitReady([away], { withinMs: 60_000, signal })).rejects.toThrow('log is away')
})
