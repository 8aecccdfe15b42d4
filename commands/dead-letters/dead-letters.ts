import type { DeadLetter, EventLog } from '../../event-log/event-log.ts'
import { includes } from '../../event-log/offsets.ts'
import type { Erasures } from '../../store/read-models.ts'

const SHOWN_CHARACTERS = 200

/** The outcome of a dead letter in a replay. */
type Fate =
  | { readonly kind: 'replayed' | 'erased since' }
  | { readonly kind: 'left'; readonly reason: string }

type DeadLetterLog = Pick<EventLog, 'deadLetters' | 'readAgain' | 'replay'>

/** Prints a paragraph about each dead letter, and the total. */
export async function listDeadLetters(
  eventLog: DeadLetterLog,
  write: (text: string) => void,
): Promise<void> {
  let all = 0
  let readable = 0
  for await (const { entries } of eventLog.deadLetters.read()) {
    for (const kept of entries) {
      const letter = { kept, now: await eventLog.readAgain(kept) }
      all += 1
      if (isReplayable(letter)) readable += 1
      write(`${formatLetter(letter)}\n`)
    }
  }
  write(`${all} dead letters, ${readable} of them can be replayed.\n`)
}

/**
 * Appends the dead letters that this version can read to the log again, and prints the outcome of
 * each other one. Does not restore positions reported before their device was erased.
 */
export async function replayDeadLetters(
  { eventLog, store }: { eventLog: DeadLetterLog; store: Pick<Erasures, 'erasuresOf'> },
  write: (text: string) => void,
): Promise<void> {
  const counts = { replayed: 0, 'erased since': 0, left: 0 }
  for await (const batch of eventLog.deadLetters.read()) {
    const letters: Record<Fate['kind'], DeadLetter[]> = {
      replayed: [],
      'erased since': [],
      left: [],
    }
    for (const kept of batch.entries) {
      const letter = { kept, now: await eventLog.readAgain(kept) }
      const fate = await decideFate(letter, store)
      letters[fate.kind].push(letter)
      counts[fate.kind] += 1
      if (fate.kind === 'left') write(`left: ${place(letter)}: ${fate.reason}\n`)
    }
    await eventLog.replay(letters.replayed)
    await eventLog.deadLetters.remove(batch, { keep: letters.left.map(({ kept }) => kept) })
  }
  write(
    `${counts.replayed} replayed, ${counts['erased since']} removed because their device was ` +
      `erased since, ${counts.left} left.\n`,
  )
}

async function decideFate(
  { kept, now }: DeadLetter,
  store: Pick<Erasures, 'erasuresOf'>,
): Promise<Fate> {
  switch (now.kind) {
    case 'position':
    case 'seen': {
      const { accountId, deviceId } = now.event
      const erased = await store.erasuresOf({ accountId, deviceIds: [deviceId] })
      const { pending = false, upTo = {} } = erased.get(deviceId) ?? {}
      if (includes(upTo, kept.origin)) return { kind: 'erased since' }
      if (!pending) return { kind: 'replayed' }
      return { kind: 'left', reason: 'its device is being erased: try again' }
    }
    case 'erasure':
      return { kind: 'left', reason: 'an erasure would remove later reports' }
    case 'unknown':
      return { kind: 'left', reason: `events of the type ${now.type} are not known` }
    case 'unreadable':
      return { kind: 'left', reason: now.reason }
  }
}

function isReplayable({ now: { kind } }: DeadLetter): boolean {
  return kind === 'position' || kind === 'seen'
}

function formatLetter(letter: DeadLetter): string {
  const { kept, now } = letter
  const state = isReplayable(letter) ? 'can be replayed' : `now: ${now.kind}`
  return [
    `${place(letter)}: ${kept.reason} (${state})`,
    `  key    ${formatBytes(kept.key)}`,
    `  value  ${formatBytes(kept.value)}`,
  ].join('\n')
}

function place({ kept: { origin } }: DeadLetter): string {
  return `partition ${origin.partition}, offset ${origin.offset}`
}

/** Formats the bytes as JSON text, so that control characters do not reach the terminal. */
function formatBytes(bytes: Uint8Array | null): string {
  if (bytes === null) return 'none'
  const text = Buffer.from(bytes).toString()
  const part = text.slice(0, SHOWN_CHARACTERS)
  return `${JSON.stringify(part)}${part === text ? '' : ` … (${bytes.byteLength} bytes)`}`
}
