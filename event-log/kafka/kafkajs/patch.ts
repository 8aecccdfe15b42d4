import { createRequire } from 'node:module'
import { tolerateMissingLeaders } from './missing-leaders.ts'
import { encodeInOnePass } from './produce-request.ts'

let isPatched = false

/**
 * Replaces three parts of kafkajs, once in a process. They reach into its files, so its version is
 * pinned exactly.
 */
export function patchKafkajs(): void {
  if (isPatched) return
  isPatched = true
  const load = createRequire(import.meta.url)
  tolerateMissingLeaders(load)
  restWhenIdle(load)
  encodeInOnePass(load)
}

type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests: (this: RequestQueue) => void
}

/**
 * Makes kafkajs check its waiting requests only while there are any. Otherwise each of its
 * connections wakes the process a thousand times a second for ever, even when idle.
 */
function restWhenIdle(load: NodeJS.Require): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as {
    prototype: RequestQueue
  }
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this)
  }
}
