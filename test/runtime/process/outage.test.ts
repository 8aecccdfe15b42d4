import { expect, test } from '@jest/globals'
import { DependencyError } from '../../../runtime/errors.ts'
import { Outage } from '../../../runtime/process/outage.ts'

const SETTLED = 30_000
/** By then every call that started before a failure has been answered. */
const LATE = 3_000

/** A Kafka outage after its minimum observation time, with its clock and log lines. */
function watched() {
  const lines: unknown[] = []
  let time = 0
  const line = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message])
  const logger = {
    debug: () => undefined,
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  }
  const now = () => time
  const outage = new Outage({ dependency: 'Kafka', variable: 'KAFKA_BROKERS', logger, now })
  const pass = (ms: number) => void (time += ms)
  pass(SETTLED)
  return { outage, logger: outage.quietLogger(logger), lines, pass }
}

const refused = new Error('connect ECONNREFUSED')

test('an outage is logged at its start, once a minute with variable and reason, and at its end', () => {
  const { outage, logger, lines, pass } = watched()
  for (let second = 0; second < 125; second += 1) {
    outage.failed(refused)
    logger.warn({ err: refused }, 'a batch is not confirmed')
    pass(1_000)
  }
  outage.answered()
  outage.answered()
  const fields = { variable: 'KAFKA_BROKERS', reason: 'connect ECONNREFUSED' }
  const text = 'Kafka is unavailable; retrying'
  expect(lines).toEqual([
    ['warn', fields, text],
    ['warn', { ...fields, seconds: 60 }, text],
    ['warn', { ...fields, seconds: 120 }, text],
    ['info', { variable: 'KAFKA_BROKERS', seconds: 125 }, 'Kafka is available again'],
  ])
})

test('failures just before and after an outage are not logged separately', () => {
  const { outage, logger, lines, pass } = watched()
  logger.warn({ err: refused }, 'a batch is not confirmed')
  outage.failed(refused)
  outage.answered()
  expect(lines).toHaveLength(2)
  logger.warn({ err: refused }, 'a batch is not confirmed')
  outage.answered()
  expect(lines).toHaveLength(2)
  pass(SETTLED)
  logger.warn({ err: refused }, 'a batch is not confirmed')
  pass(LATE)
  outage.answered()
  expect(lines).toHaveLength(3)
})

test('a failure before an outage is not logged separately if an earlier call succeeds in between', () => {
  const { outage, logger, lines, pass } = watched()
  logger.warn({ err: refused }, 'a batch is not confirmed')
  outage.answered()
  pass(1_000)
  outage.failed(refused)
  outage.answered()
  expect(lines).toHaveLength(2)
})

test('failures of a responding dependency are logged once a minute per kind', () => {
  const { outage, logger, lines, pass } = watched()
  const leaderless = new Error('partition 3 has no leader')
  for (let second = 0; second < 119; second += 1) {
    logger.warn({ err: leaderless, topic: 'positions' }, 'a batch is not confirmed')
    logger.warn({ err: leaderless, topic: 'rejections' }, 'a batch is not confirmed')
    outage.answered()
    pass(1_000)
  }
  const about = (topic: string) => ['warn', { err: leaderless, topic }, 'a batch is not confirmed']
  const both = [about('positions'), about('rejections')]
  expect(lines).toEqual([...both, ...both])
})

test('a line that is not a failure is logged unchanged', () => {
  const { logger, lines } = watched()
  logger.warn({ topic: 'positions', weaker: [] }, 'topic settings are weaker than recommended')
  logger.info({}, 'the spool is drained')
  expect(lines).toHaveLength(2)
})

test('only transient failures belong to an outage', () => {
  const { outage } = watched()
  const lasting = new DependencyError('another version wrote it', { retriable: false })
  expect(outage.mark(lasting).outage).toBeUndefined()
  const passing = new DependencyError('no response', { retriable: true })
  expect(outage.mark(passing).outage).toBe(outage)
  expect(outage.mark('text')).toBe('text')
})
