import { createServer } from 'node:http'
import { answerOf, type SampleAnswer } from '../sample-answer.ts'

/**
 * The limit: a server of `node:http` and nothing else that parses the same JSON and answers the
 * same bytes. Sends its URL to the bench that started it, and exits with it.
 */
const sample = JSON.parse(process.argv[2] ?? '') as SampleAnswer
const { status, headers, body } = answerOf(sample)
let reports = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const report = JSON.parse(Buffer.concat(chunks).toString()) as { deviceId?: string }
    if (report.deviceId !== undefined) reports += 1
    response.writeHead(status, headers).end(body)
  })
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  process.send?.({ url: `http://127.0.0.1:${address.port}` })
})
process.on('message', () => process.send?.({ reports }))
process.on('disconnect', () => process.exit())
