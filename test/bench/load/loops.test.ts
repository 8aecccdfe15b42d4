import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { sendLoad } from '../../../bench/load/loops.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<{ url: string; key: string }> {
  const listening = createServer(listener)
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, key: 'gps_x' }
}

const answering: RequestListener = (request, response) => {
  request.resume().on('end', () => response.setHeader('Content-Length', 2).end('{}'))
}

describe('the load', () => {
  test('no two reports are equal', async () => {
    const bodies: string[] = []
    const target = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        bodies.push(body)
        response.setHeader('Content-Length', 2).end('{}')
      })
    })
    const { acknowledged, answers, failed } = await sendLoad(
      { ...target, batch: 1, devices: 3 },
      { connections: 4, seconds: 0.1 },
    )
    expect(acknowledged).toBe(bodies.length)
    expect(answers).toBe(bodies.length)
    expect(failed).toEqual({})
    const places = bodies.map((body) => {
      const { deviceId, latitude, longitude } = JSON.parse(body) as Record<string, unknown>
      return [deviceId, latitude, longitude].join()
    })
    expect(new Set(places).size).toBe(bodies.length)
  })

  test('responses other than 200 and lost connections are counted separately, not as acknowledged', async () => {
    let requests = 0
    const target = await serve((request, response) => {
      requests += 1
      if (requests === 2) response.statusCode = 503
      if (requests === 3) request.socket.destroy()
      else answering(request, response)
    })
    const { acknowledged, failed } = await sendLoad(
      { ...target, batch: 1 },
      // The server closes its only connection.
      { connections: 1, seconds: 3_600 },
    )
    expect(acknowledged).toBe(1)
    expect(failed).toEqual({ 503: 1, none: 1 })
  })

  test('the response to a batch determines how many of its reports count', async () => {
    const target = await serve((request, response) => {
      const body = '{"data":{"accepted":7,"rejected":3}}'
      request.resume().on('end', () => response.setHeader('Content-Length', body.length).end(body))
    })
    const { acknowledged, answers } = await sendLoad(
      { ...target, batch: 10 },
      { connections: 1, seconds: 0.05 },
    )
    expect(acknowledged).toBe(7 * answers)
  })

  test('a pause of the service adds to the latency of every request due during it', async () => {
    let stopped = false
    const begin = performance.now()
    const target = await serve((request, response) => {
      const stop = !stopped && performance.now() - begin > 200
      if (stop) {
        stopped = true
        // Blocks this whole process, so due requests are not sent either.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
      }
      answering(request, response)
    })
    const { latency, answers } = await sendLoad(
      { ...target, batch: 1 },
      { connections: 2, seconds: 1, perSecond: 200 },
    )
    expect(answers).toBe(200)
    // 60 of the 200 were due during those 300 ms; only two could be sent by then.
    expect(latency.p99).toBeGreaterThan(250)
  })
})
