import { signal } from '@preact/signals'

const PAINT_EVERY_MS = 100
const WORDS_EVERY_MS = 500

/** Counts changes of the fleet, at most ten a second and only while the page is visible. */
export const fleetChanges = signal(0)

/** Like `fleetChanges`, for text that people read: at most twice a second. */
const changedWords = signal(0)

/** Re-renders the calling component when the fleet's text changes. */
export function watchWords(): number {
  return changedWords.value
}

let paintTimer: ReturnType<typeof setTimeout> | undefined
let paintedAt = 0
let wordsTimer: ReturnType<typeof setTimeout> | undefined
let wordsAt = -Infinity

/** Announces a change of the fleet soon; many changes cause a single announcement. */
export function markChanged(): void {
  if (paintTimer !== undefined || document.hidden) return
  const waitMs = Math.max(0, paintedAt + PAINT_EVERY_MS - performance.now())
  paintTimer = setTimeout(() => {
    paintTimer = undefined
    paintedAt = performance.now()
    fleetChanges.value += 1
    wordsTimer ??= setTimeout(
      () => {
        wordsTimer = undefined
        wordsAt = performance.now()
        changedWords.value += 1
      },
      Math.max(0, wordsAt + WORDS_EVERY_MS - paintedAt),
    )
  }, waitMs)
}
