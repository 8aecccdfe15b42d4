import { afterAll, afterEach, beforeEach } from '@jest/globals'

type Close = () => unknown

const closers: Close[] = []
let openBeforeTest = 0

beforeEach(() => {
  openBeforeTest = closers.length
})
afterEach(() => closeFrom(openBeforeTest))
afterAll(() => closeFrom(0))

/** Closes a test's resources when it ends, all others when its file ends, in reverse order. */
export function closeAfterwards(close: Close): void {
  closers.push(close)
}

async function closeFrom(first: number): Promise<void> {
  for (const close of closers.splice(first).reverse()) await close()
}
