import type { When } from '../../schemas/device-rule.ts'

/** An input of a device, whose clock is right: seconds, and metres north of the middle of the geofence. */
export type Said = {
  readonly at: number
  /** Absent: a heartbeat. */
  readonly north?: number
  readonly values: Readonly<Record<string, number | boolean>>
}

export type ModelRule = {
  readonly when: When
  readonly forSeconds: number
  /** It applies only in the geofence. */
  readonly isLocal: boolean
}

/** `raised` or `cleared`, and when. */
export type Told = readonly [what: 'raised' | 'cleared', at: number]

/** A circle of 60 m: a device enters within it, and leaves beyond 80 m. */
const [ENTER, LEAVE] = [60, 80]

/**
 * When a rule must be raised and cleared until `end`, from all inputs at hand: no state that is stored, no deadlines,
 * no batches.
 */
export function expectedOf(
  { when, forSeconds, isLocal }: ModelRule,
  inputs: readonly Said[],
  end: number,
): Told[] {
  const first = inputs.findIndex(({ north }) => north !== undefined)
  const heard = first === -1 ? [] : inputs.slice(first)
  if ('silent' in when)
    return silences(
      heard.map(({ at }) => at),
      forSeconds,
      end,
    )
  const told: Told[] = []
  let isInside = false
  let began: number | undefined
  let isRaised = false
  const raiseBy = (now: number) => {
    if (began === undefined || isRaised || began + forSeconds > now) return
    isRaised = true
    told.push(['raised', began + forSeconds])
  }
  for (const { at, north, values } of heard) {
    raiseBy(at)
    if (north !== undefined) isInside = isInside ? north <= LEAVE : north < ENTER
    const holds =
      isLocal && !isInside ? false : holdsNow(when, values, isInside, began !== undefined)
    if (holds === true) began ??= at
    if (holds === false) {
      if (isRaised) told.push(['cleared', at])
      began = undefined
      isRaised = false
    }
    raiseBy(at)
  }
  raiseBy(end)
  return told
}

function holdsNow(
  when: Exclude<When, { silent: true }>,
  values: Said['values'],
  isInside: boolean,
  hasBegun: boolean,
): boolean | undefined {
  if ('inside' in when) return isInside
  if ('outside' in when) return !isInside
  if (!('field' in when)) throw new Error('not in this model')
  const value = values[when.field]
  if (value === undefined) return undefined
  if ('is' in when) return value === when.is
  if (typeof value !== 'number') return undefined
  const limit = hasBegun ? when.clear : undefined
  return 'above' in when ? value > (limit ?? when.above) : value < (limit ?? when.below)
}

function silences(signs: readonly number[], forSeconds: number, end: number): Told[] {
  return signs.flatMap((at, n): Told[] => {
    const next = signs[n + 1]
    const raised: Told = ['raised', at + forSeconds]
    if (at + forSeconds > (next ?? end)) return []
    return next === undefined ? [raised] : [raised, ['cleared', next]]
  })
}
