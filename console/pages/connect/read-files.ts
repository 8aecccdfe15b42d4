import { api } from '../../api/client.ts'
import { toFailure } from '../../core/failure.ts'
import type { FoundHistory, HistoryAnswer, HistoryOrder } from '../../core/history.ts'

type Read = {
  readonly files: readonly File[]
  /** The device of all points; if empty, device ids come from the files. */
  readonly deviceId: string
  readonly signal: AbortSignal
  readonly onProgress: (progress: { readonly bytes: number; readonly points: number }) => void
}

export type Imported = {
  accepted: number
  /** Number of rejected points, by reason. */
  readonly refused: Map<string, number>
}

/** Reads files in a worker and describes their contents. Nothing is sent. */
export function countHistory(read: Read): Promise<FoundHistory> {
  return readInWorker(read, false, () => Promise.resolve())
}

/**
 * Reads them again, and imports their points in the order of the files. After an interruption it
 * may start over.
 */
export async function sendHistory(read: Read, imported: Imported): Promise<void> {
  const { id } = await api.post('/imports', {})
  const path = { id }
  try {
    await readInWorker(read, true, async (reports) => {
      const body = { reports: reports as { readonly [field: string]: unknown }[] }
      const { results } = await retryCall(read.signal, () =>
        api.post('/imports/{id}/positions', { path, body, signal: read.signal }),
      )
      for (const { error, message = error } of results) {
        if (message === undefined) imported.accepted += 1
        else imported.refused.set(message, (imported.refused.get(message) ?? 0) + 1)
      }
    })
  } finally {
    // Otherwise the end of the session revokes its key.
    await api.delete('/imports/{id}', { path }).catch(() => undefined)
  }
}

const LONGEST_PAUSE_MS = 10_000
const GIVE_UP_AFTER_MS = 300_000

/** Repeats a call that may succeed later. */
async function retryCall<Answer>(
  signal: AbortSignal,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const beganAt = Date.now()
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await call()
    } catch (thrown) {
      signal.throwIfAborted()
      const { status, retryAt = 0 } = toFailure(thrown)
      // Status 0 means that there was no response.
      const isLater = status === 0 || status === 429 || status >= 500
      if (!isLater || Date.now() - beganAt > GIVE_UP_AFTER_MS) throw thrown
      await pause(Math.max(pauseMs, retryAt - Date.now()), signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

/** Loads the readers, which are as large as a page, only now. */
function readInWorker(
  { files, deviceId, signal, onProgress }: Read,
  isSent: boolean,
  send: (reports: readonly object[]) => Promise<unknown>,
): Promise<FoundHistory> {
  const worker = new Worker(new URL('../../history/read-worker.ts', import.meta.url), {
    type: 'module',
  })
  const order = (one: HistoryOrder) => worker.postMessage(one)
  const ended = new Promise<FoundHistory>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    worker.onerror = ({ message }) => reject(new Error(message || 'the files cannot be read here'))
    worker.onmessage = ({ data }: { data: HistoryAnswer }) => {
      if (data.kind === 'progress') onProgress(data)
      else if (data.kind === 'done') resolve(data.found)
      else send(data.reports).then(() => order({ kind: 'more' }), reject)
    }
  })
  order({ kind: 'read', files, deviceId, isSent })
  return ended.finally(() => worker.terminate())
}
