import { shownMoment } from '../../ui/shown.ts'

/** What the silence of a device means for people who wait for it; `at` is the time of its place. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${shownMoment(at).replace(/^today /, '')}.`
}
