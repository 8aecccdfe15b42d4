import { connect } from 'node:net'

// Sends reports as the parent process orders, at a rate that does not depend on the responses, over
// a fixed number of connections, and reports the outcomes second by second.

/** A sender may have timed out by then. */
const LATE_MS = 5_000
/** How long to await responses after the end. */
const AWAITED_MS = 10_000

process.on('message', (order) => {
  flood(order).then((result) => process.send(result))
})
process.on('disconnect', () => process.exit())

async function flood({ port, key, connections, perSecond, seconds }) {
  const told = Array.from({ length: seconds }, () => ({
    sent: 0,
    good: 0,
    late: 0,
    refused: 0,
    other: 0,
  }))
  const idle = []
  const sockets = new Set()
  let begun = Infinity
  // Responses after the end do not count.
  const second = () => told[Math.floor((performance.now() - begun) / 1_000)]
  let ended = false
  let reports = 0
  let waiting = 0

  function open() {
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    let answer = ''
    let sentAt = 0
    const line = {
      send(due) {
        sentAt = due
        waiting += 1
        reports += 1
        const body = JSON.stringify({
          deviceId: `flood-${reports % 10_000}`,
          latitude: (reports % 90_000) / 1_000,
          longitude: 10.1,
        })
        socket.write(
          `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
      },
    }
    socket.on('connect', () => free(line))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      if (!answer.includes('"success":') || !answer.endsWith('}')) return
      const status = answer.slice(9, 12)
      answer = ''
      // A connection idle for 10 s is closed with a 408.
      if (sentAt === 0) return
      const now = second()
      if (now !== undefined) {
        if (status === '200') {
          now.good += 1
          if (performance.now() - sentAt > LATE_MS) now.late += 1
        } else if (status === '503') now.refused += 1
        else now.other += 1
      }
      sentAt = 0
      waiting -= 1
      free(line)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      if (sentAt !== 0) waiting -= 1
      if (!ended) setTimeout(open, 50)
    })
  }

  /** Without a rate, each response triggers the next report. */
  function free(line) {
    if (ended) return
    if (perSecond > 0) idle.push(line)
    else {
      line.send(performance.now())
      const now = second()
      if (now !== undefined) now.sent += 1
    }
  }

  for (let n = 0; n < connections; n += 1) {
    open()
    if (n % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  begun = performance.now()
  let due = 0
  const pacing = setInterval(() => {
    const now = second()
    if (now === undefined) return
    const until = ((performance.now() - begun) * perSecond) / 1_000
    for (; due < until; due += 1) {
      const line = idle.pop()
      // Every connection awaits a response, so this report is not even sent.
      if (line === undefined) continue
      line.send(begun + (due * 1_000) / perSecond)
      now.sent += 1
    }
  }, 2)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  ended = true
  clearInterval(pacing)
  const until = performance.now() + AWAITED_MS
  while (waiting > 0 && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 20))
  for (const socket of sockets) socket.destroy()
  return told
}
