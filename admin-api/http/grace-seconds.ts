import { wholeNumber } from './rule.ts'

const DAY_SECONDS = 24 * 60 * 60
const LONGEST_GRACE_SECONDS = 30 * DAY_SECONDS

/** The body of a call that replaces a secret: how long the old one remains valid. */
export const GRACE = {
  graceSeconds: wholeNumber({
    min: 0,
    max: LONGEST_GRACE_SECONDS,
    expected: `graceSeconds must be a whole number of seconds from 0 to ${LONGEST_GRACE_SECONDS}`,
  })
    .nullIsAbsence()
    .withDefault(7 * DAY_SECONDS),
}
