import { stat } from 'node:fs/promises'
import { withThousands, timeLeft } from '../progress.ts'

/** The size of all files in bytes; undefined if one of them has none, such as a pipe. */
export async function sizeOf(files: readonly string[]): Promise<number | undefined> {
  let total = 0
  for (const file of files) {
    const stats = await stat(file).catch(() => undefined)
    if (stats?.isFile() !== true) return undefined
    total += stats.size
  }
  return total
}

/** For example `12,000 points, 9,800/s, 24 % read, about 6 s left`. */
export function importProgress({
  points,
  bytes,
  totalBytes,
  elapsedMs,
  waitingFor,
}: {
  points: number
  bytes: number
  totalBytes: number | undefined
  elapsedMs: number
  /** The reason why the last request is sent again. */
  waitingFor?: string | undefined
}): string {
  const seconds = elapsedMs / 1000
  const share = totalBytes === undefined || totalBytes === 0 ? undefined : bytes / totalBytes
  return [
    `${withThousands(points)} points`,
    ...(seconds > 0 ? [`${withThousands(Math.round(points / seconds))}/s`] : []),
    ...(share === undefined ? [] : [`${Math.floor(100 * share)} % read`]),
    ...(share === undefined || share === 0 ? [] : timeLeft(seconds / share - seconds)),
    ...(waitingFor === undefined ? [] : [`sent again after ${waitingFor}`]),
  ].join(', ')
}
