import type { AdminContext } from './admin-route.ts'

/** Does `work` once the answer has been sent or the client has disconnected. */
export function onceAnswered({ res }: AdminContext, work: () => void): void {
  if (res.destroyed) work()
  else res.once('close', work)
}
