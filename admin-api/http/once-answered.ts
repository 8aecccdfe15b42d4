import type { AdminContext } from './admin-route.ts'

/** Does `work` once the answer has been sent or the client has disconnected. */
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
  // A pipelined answer that waits for earlier ones only learns of a disconnect from the socket.
  socket.setMaxListeners(0)
  socket.once('close', finish)
}
