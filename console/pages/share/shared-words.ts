import { shownMoment } from '../../ui/shown.ts'

/** Shown in place of devices that have not reported since their link was made. */
export const NO_POSITION = 'No position yet. It appears here when there is one.'

/** The meaning of a device's silence for people who wait for it; `at` is the time of its place. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${shownMoment(at).replace(/^today /, '')}.`
}
