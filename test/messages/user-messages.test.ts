import { expect, test } from '@jest/globals'
import { filesIn, readSource, userMessages, type UserMessage } from './user-messages.ts'

/** The number of consecutive words that identify a message in the tests' texts. */
const WORDS = 4

/**
 * The starts of messages that appear only in logs, after programming errors or in brief states,
 * or whose parts the tests assert separately.
 */
const INTERNAL = [
  '--… must be … from … to …, not "…"',
  'a report has no outcome',
  'a stored password hash has an unknown format',
  'a track has nothing but ends of gaps',
  'an account got no number',
  'another rebuild has taken over',
  'another projector keeps changing the device statuses',
  'devices were erased faster than a page of them was read',
  'another projector keeps writing erased records',
  'not everything could be closed',
  'other processes keep changing this document',
  'partition … of … has a leader again',
  'reading as … has made no progress for … ms',
  'the body ended before it was complete',
  'the event log did not write within … ms',
  'the event log has been silent for … ms',
  'the file is shorter than it was',
  'the group has another coordinator',
  'other processes keep changing the labels of devices',
  'the other thread is busy',
  'the schema registry: …',
  'the store did not respond in time',
  'there is no tag for the path …',
  'this program only reads compressed batches',
  'two different schemas have the title …',
  '… has no index …',
  '… is already open in this process',
  '…: give … to the user who runs this, or other users may read it',
  '…: try again in … s',
]

/**
 * Messages that users can get and that no test asserts yet: each needs a separate, faulty Kafka.
 */
const NOT_YET_ASSERTED = [
  'Kafka confirms no writes',
  'Kafka did not return the entries that were applied last',
  'no partition has enough replicas in sync',
  'the past of the log cannot be read now',
]
const listed = [...INTERNAL, ...NOT_YET_ASSERTED]

const words = (text: string) => text.split(/[^\p{L}\p{N}_./:<>-]+/u).filter(Boolean)
const runs = (text: string) => {
  const all = words(text)
  const length = Math.min(WORDS, all.length)
  return all.slice(length - 1).map((_, at) => all.slice(at, at + length).join(' '))
}

const tested = new Set(
  filesIn('test')
    .filter((file) => !file.startsWith('test/messages/'))
    .flatMap((file) => {
      const all = words(readSource(file))
      return [3, WORDS].flatMap((length) =>
        all.slice(length - 1).map((_, at) => all.slice(at, at + length).join(' ')),
      )
    }),
)

function isTested({ texts }: UserMessage): boolean {
  return texts.some((text) => words(text).length > 2 && runs(text).some((run) => tested.has(run)))
}

test('a test asserts each message that a user can get', () => {
  const untested = userMessages()
    .filter((message) => !isTested(message))
    .map(({ texts }) => texts.join('…'))
  const isListed = (text: string) => listed.some((begin) => text.startsWith(begin))
  expect(untested.filter((text) => !isListed(text))).toEqual([])
  // Messages that are asserted by now, or no longer exist, must leave the lists.
  expect(listed.filter((begin) => !untested.some((text) => text.startsWith(begin)))).toEqual([])
})
