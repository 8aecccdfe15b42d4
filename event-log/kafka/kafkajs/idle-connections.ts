type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests: (this: RequestQueue) => void
}

/**
 * Makes kafkajs check its waiting requests only while there are any. Otherwise each of its
 * connections wakes the process a thousand times a second for ever, even when idle.
 */
export function restWhenIdle(load: NodeJS.Require): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as {
    prototype: RequestQueue
  }
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this)
  }
}
