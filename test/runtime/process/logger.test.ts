/** @node all */
import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { DependencyError } from '../../../runtime/errors.ts'
import { floodLimit } from '../../../runtime/process/logger.ts'
import { Outage } from '../../../runtime/process/outage.ts'

function limited() {
  const lines: Record<string, unknown>[] = []
  let time = 0
  const logMethod = floodLimit({ now: () => time })
  const logger = pino(
    { hooks: { logMethod } },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  return { logger, lines, pass: (ms: number) => void (time += ms) }
}

const busy = new DependencyError('the disk is full', { retriable: true })

test('failures that are retried are logged once a minute per kind, with the number of others', () => {
  const { logger, lines, pass } = limited()
  for (let time = 0; time < 100; time += 1) {
    logger.warn({ err: busy, what: 'key usage' }, 'periodic task failed')
  }
  logger.child({ thread: 'worker' }).warn({ err: busy, what: 'lag' }, 'periodic task failed')
  expect(lines).toMatchObject([{ what: 'key usage' }, { what: 'lag' }])
  pass(60_000)
  logger.warn({ err: busy, what: 'key usage' }, 'periodic task failed')
  expect(lines.at(-1)).toMatchObject({ what: 'key usage', suppressed: 99 })
})

test('any other warning or error is logged at most 60 times a minute', () => {
  const { logger, lines, pass } = limited()
  for (let requestId = 0; requestId < 1_000; requestId += 1) {
    logger.error({ requestId, err: new TypeError('a fault') }, 'request failed')
  }
  expect(lines).toHaveLength(60)
  pass(60_000)
  logger.error({ requestId: 1_000 }, 'request failed')
  expect(lines.at(-1)).toMatchObject({ requestId: 1_000, suppressed: 940 })
})

test('fatal lines and lines below warning are always logged', () => {
  const { logger, lines } = limited()
  for (let time = 0; time < 100; time += 1) {
    logger.info({ time }, 'listens')
    logger.fatal({ err: busy }, 'could not start')
  }
  expect(lines).toHaveLength(200)
})

test("a failure during an outage is covered by the outage's lines", () => {
  const { logger, lines } = limited()
  const outage = new Outage({ dependency: 'MongoDB', variable: 'MONGODB_URL', logger })
  const away = outage.mark(new DependencyError('no response', { retriable: true }))
  outage.failed(away)
  for (let time = 0; time < 10; time += 1) logger.warn({ err: away }, 'answered with 503')
  expect(lines).toMatchObject([
    { variable: 'MONGODB_URL', reason: 'no response', msg: 'MongoDB is unavailable; retrying' },
  ])
})
