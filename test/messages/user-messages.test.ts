import { expect, test } from '@jest/globals'
import { filesIn, readSource, userMessages, type UserMessage } from './user-messages.ts'

/** Words in a row that make a message known among the texts of the tests. */
const WORDS = 4

/**
 * The beginnings of messages that only a log shows, of faults of the program and of states that last for moments; or
 * whose parts the tests assert separately.
 */
const INTERNAL = [
  'a report has no outcome',
  'a stored password hash has an unknown form',
  'a track has nothing but ends of gaps',
  'an account got no number',
  'another rebuild has taken over',
  'device statuses keep being changed by another projector',
  'devices were erased faster than a page of them was read',
  'erased records keep being written by another projector',
  'no answer within … ms',
  'not everything could be closed',
  'partition … of … has a leader again',
  'reading as … has made no progress for … ms',
  'the body ended before it was complete',
  'the event log did not write within … ms',
  'the event log has been silent for … ms',
  'the file is shorter than it was',
  'the group has another coordinator',
  'the labels of devices keep being changed by others',
  'the other thread is busy',
  'the schema registry: …',
  'the service is overloaded',
  'the service is stopping',
  'the store did not answer in time',
  'there is no tag for the path …',
  'this keeps being changed by others',
  'this program only reads compressed batches',
  'two different schemas have the title …',
  '… has no description',
  '… has no index …',
  '… is already open in this process',
  '…: give … to the user who runs this, or other users may read it',
  '…: try again in … s',
]

/** Messages that users can meet and that no test asserts yet. */
const NOT_YET_ASSERTED = [
  "--devices must be the answer of Traccar's /api/devices, a JSON list of objects with id and uniqueId",
  '--lan needs a network: this computer has no address in one. Connect it, or start without --lan',
  '--… must be … from … to …, not "…"',
  'Kafka and MongoDB are backed up with their own tools: docs/operations.md',
  'Kafka and MongoDB are restored with their own tools: docs/operations.md',
  'Kafka confirms no writes',
  'another backup goes to …: choose a new folder',
  'events after the Last-Event-ID are no longer in the log, or it is another log: what there is follows',
  'events of the type … are not known',
  'it names no device',
  'its device is being erased: try again',
  'no partition has enough replicas in sync',
  'partition … has too few replicas in sync',
  'something else than the service has answered: is the address right?',
  'the ingest API cannot be reached, please try again',
  'the password on standard input must be UTF-8',
  'the rejection could not be stored: send the request again',
  'the service has not taken anything for too long (…)',
  'the service is stopping, please connect again',
  'the store is not ready: …',
  'there are events that cannot be read: others follow',
  'this map cannot be read right now',
  'this program works on its own files and uses no KAFKA_BROKERS and MONGODB_URL: unset them, or run th',
  'too many streams are catching up, please connect again',
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

test('each message that a user can meet is asserted by a test', () => {
  const untested = userMessages()
    .filter((message) => !isTested(message))
    .map(({ texts }) => texts.join('…'))
  const isListed = (text: string) => listed.some((begin) => text.startsWith(begin))
  expect(untested.filter((text) => !isListed(text))).toEqual([])
  // What is asserted by now, or gone, is taken off the lists.
  expect(listed.filter((begin) => !untested.some((text) => text.startsWith(begin)))).toEqual([])
})
