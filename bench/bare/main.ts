import { createServer } from 'node:http'
import { carryOut } from '../fork.ts'
import { answerOf, type SampleAnswer } from '../sample-answer.ts'

/**
 * The limit: a server of `node:http` and nothing else that parses the same JSON and answers the
 * same bytes. Started with a sample answer it returns its URL; asked to count, its reports so far.
 */
let reports = 0

carryOut(async (order: SampleAnswer | 'count') => (order === 'count' ? reports : listen(order)))

function listen(sample: SampleAnswer): Promise<string> {
  const { status, headers, body } = answerOf(sample)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const report = JSON.parse(Buffer.concat(chunks).toString()) as { deviceId?: string }
      if (report.deviceId !== undefined) reports += 1
      response.writeHead(status, headers).end(body)
    })
  })
  return new Promise((resolve, reject) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') return reject(new Error('no port'))
      resolve(`http://127.0.0.1:${address.port}`)
    })
  })
}
