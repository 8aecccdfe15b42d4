import type { AdminContext } from './admin-route.ts'

/** Does `work` once the answer has been taken, or nobody is there any more to take it. */
export function onceAnswered({ req, res }: AdminContext, work: () => void): void {
  const { socket } = req
  let done = false
  const finish = () => {
    socket.off('close', finish)
    if (!done) work()
    done = true
  }
  if (socket.destroyed) return finish()
  res.once('close', finish)
  // An answer that waits behind others of its connection does not hear of its end otherwise.
  socket.setMaxListeners(0)
  socket.once('close', finish)
}
