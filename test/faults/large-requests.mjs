import { Agent, request } from 'node:http'

// Sends what the parent process orders, and replies to each order with one message: single reports
// at a rate that does not depend on the responses, or points in large requests, sequentially on
// each stream.

const agent = new Agent({ keepAlive: true })
let points = 0

process.on('message', (order) => {
  const { perSecond } = order
  const sending = perSecond === undefined ? sendLarge(order) : sendReports(order)
  sending.then(
    (result) => process.send({ result }),
    (error) => process.send({ failure: error.stack }),
  )
})
process.on('disconnect', () => process.exit())

/** The time from each report's due time to its response, in milliseconds. */
async function sendReports({ url, key, perSecond, seconds }) {
  const begun = performance.now()
  const answers = []
  const inAll = perSecond * seconds
  for (let due = 0; due < inAll; due += 1) {
    const dueAt = begun + (due * 1_000) / perSecond
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const report = JSON.stringify(pointOf(`device-${due % 500}`))
    const answered = post(`${url}/api/v1/gps/submit`, key, report).then((status) => {
      if (status !== 200) throw new Error(`a report got ${status}`)
      return performance.now() - dueAt
    })
    // Rejections are checked once all have been sent.
    answered.catch(() => undefined)
    answers.push(answered)
  }
  return Promise.all(answers)
}

/** The number of accepted points, and the seconds taken. */
async function sendLarge({ url, key, path, streams, points: count, seconds }) {
  const begun = performance.now()
  let accepted = 0
  const stream = async (number) => {
    while (performance.now() - begun < seconds * 1_000) {
      const reports = Array.from({ length: count }, () => pointOf(`history-${number}`))
      const status = await post(url + path, key, JSON.stringify({ reports }))
      if (status === 200) accepted += count
    }
  }
  await Promise.all(Array.from({ length: streams }, (_, number) => stream(number)))
  return { accepted, seconds: (performance.now() - begun) / 1_000 }
}

function pointOf(deviceId) {
  points += 1
  return {
    deviceId,
    latitude: (points % 90_000) / 1_000,
    longitude: 10.125,
    timestamp: new Date(1_500_000_000_000 + points * 1_000).toISOString(),
    speed: 3.25,
    accuracy: 5.5,
    battery: 0.5,
  }
}

function post(url, key, body) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', (error) => {
      // The server may close an idle connection just as it is reused.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(post(url, key, body))
      else reject(error)
    })
    sent.end(body)
  })
}
