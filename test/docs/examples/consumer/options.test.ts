import { expect, test } from '@jest/globals'
import { HELP, parseOptions, UsageError } from '../../../../docs/examples/consumer/options.ts'
import { topicNames } from '../../../../event-log/kafka/topics.ts'

test('brokers are the only required option', () => {
  expect(parseOptions(['--brokers', 'one:9092, two:9093'])).toEqual({
    brokers: ['one:9092', 'two:9093'],
    topic: topicNames('gps').positions,
    group: 'example-consumer',
  })
})

test('topic, group and registry can be given', () => {
  const args = [
    '--brokers',
    'b:1',
    '--topic',
    't',
    '--group',
    'g',
    '--registry',
    'http://r:8080/v7',
  ]
  expect(parseOptions(args)).toEqual({
    brokers: ['b:1'],
    topic: 't',
    group: 'g',
    registry: 'http://r:8080/v7',
  })
})

test('--help and -h print help that names every option', () => {
  expect(parseOptions(['--help'])).toBe('help')
  expect(parseOptions(['-h', '--brokers', 'x'])).toBe('help')
  for (const name of ['brokers', 'topic', 'group', 'registry']) expect(HELP).toContain(`--${name} `)
})

test.each([
  [[], '--brokers'],
  [['--brokers', 'localhost'], '--brokers'],
  [['--brokers', 'a:1,'], '--brokers'],
  [['--brokers', 'a:1', '--topic', ''], '--topic'],
  [['--brokers', 'a:1', '--group', ''], '--group'],
  [['--brokers', 'a:1', '--registry', 'registry:8080'], '--registry'],
  [['--brokers', 'a:1', '--offset', '3'], '--offset'],
  [['--brokers'], '--brokers'],
])('%j is rejected with a message that names %s', (args, name) => {
  expect(() => parseOptions(args)).toThrow(UsageError)
  expect(() => parseOptions(args)).toThrow(name)
})
