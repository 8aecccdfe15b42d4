import { gatheringWriter, type GatheringWriterOptions } from '../../event-log/gathering-writer.ts'

type Limits = Omit<GatheringWriterOptions<string>, 'writeBatch'>

export function recordingWriter(limits: Limits = {}) {
  const batches: (readonly string[])[] = []
  const writer = gatheringWriter<string>({
    ...limits,
    async writeBatch(items) {
      batches.push(items)
    },
  })
  return { writer, batches }
}

/** A writer whose batches settle only when the test says so. */
export function heldWriter(limits: Limits = {}) {
  const batches: (readonly string[])[] = []
  const held: ((error?: Error) => void)[] = []
  const writer = gatheringWriter<string>({
    ...limits,
    writeBatch(items) {
      batches.push(items)
      return new Promise((resolve, reject) => {
        held.push((error) => (error === undefined ? resolve() : reject(error)))
      })
    },
  })
  return { writer, batches, settleNext: (error?: Error) => held.shift()?.(error) }
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index))
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
