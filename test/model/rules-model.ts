import type { When } from '../../schemas/definitions/device-rule.ts'
import { stopNews, type Place, type StopNews } from './stops-model.ts'

/** An input of a device: seconds, and metres north of the middle of the geofence. */
export type Said = {
  /** When it was received. */
  readonly at: number
  /** A position's timestamp, by a clock that may be wrong. Absent for a heartbeat. */
  readonly made?: number
  readonly north?: number
  /** Repeats the position of the input at this index. */
  readonly repeats?: number
  readonly values: Readonly<Record<string, number | boolean>>
}

export type ModelRule = {
  readonly when: When
  readonly forSeconds: number
  /** The rule applies only in the geofence. */
  readonly isLocal: boolean
  /** A user saves the rule again half a second after the input at this index. */
  readonly changedAfter?: number | undefined
}

/** `raised` or `cleared`, and when. */
export type Told = readonly [what: 'raised' | 'cleared', at: number]

/** A circle of 60 m: a device enters within it, and leaves beyond 80 m. */
const [ENTER, LEAVE] = [60, 80]
/** How long after an input a rule is changed. */
export const LATER = 0.5

/**
 * When a rule must be raised and cleared until `end`, computed from all inputs, without stored
 * state, deadlines or batches.
 */
export function expectedOf(rule: ModelRule, inputs: readonly Said[], end: number): Told[] {
  const { when, forSeconds, isLocal, changedAfter } = rule
  if ('silent' in when) return silences(rule, inputs, end)
  const told: Told[] = []
  const places = placesOf(inputs)
  const current = currentPositions(inputs)
  const news = stopNews(sightings(inputs, current), end)
  let isInside = false
  let enteredAt = -Infinity
  let changedAt = -Infinity
  let began: Began | undefined
  let isRaised = false
  const raiseBy = (now: number, clock: keyof Began) => {
    if (began === undefined || isRaised || began[clock] + forSeconds > now) return
    isRaised = true
    told.push(['raised', began.at + forSeconds])
  }
  const judge = (
    holds: boolean | undefined,
    { at, received, stop }: Pick<StopNews, 'at' | 'received' | 'stop'>,
    isPosition: boolean,
  ) => {
    if (holds === true && began === undefined) {
      began = { at, received }
      if ('stopped' in when && stop !== undefined && stop !== 'moves') {
        // The first position received since the rule changed that lies where the rule applies.
        began = stop.find((one) => one.received >= changedAt && (!isLocal || one.at >= enteredAt))
      }
    }
    if (holds === false) {
      // The rule may be raised at the time of receipt, later than the position's timestamp.
      if (isRaised) told.push(['cleared', Math.max(at, told.at(-1)![1])])
      began = undefined
      isRaised = false
    }
    // Only positions have timestamps: other inputs must not end a wait early if the device's clock
    // is slow.
    if (holds === true) raiseBy(received, 'received')
    if (holds === true && isPosition) raiseBy(at, 'at')
  }
  const holdsAt = (stop: StopNews['stop'], values: Said['values']) => {
    if (isLocal && !isInside) return false
    const isStopped = stop === undefined ? undefined : stop !== 'moves'
    if ('stopped' in when) return isStopped
    const speed = isStopped === true ? { speed: 0 } : {}
    return holdsNow(when, { ...speed, ...values }, isInside, began !== undefined)
  }
  /** The stops found because nothing else is received by then. */
  const beSilent = (until: number) => {
    for (const one of news.filter(({ index }) => index === undefined)) {
      if (one.received > until || heard.has(one)) continue
      heard.add(one)
      raiseBy(one.received, 'received')
      const last = one.stop === 'moves' ? undefined : one.stop?.at(-1)
      // Nothing was received since the rule changed or started to apply.
      if (last === undefined || last.received < changedAt) continue
      if (isLocal && isInside && last.at < enteredAt) continue
      const { values } = inputs[last.index]!
      // A silent device's speed is 0, unless its last position reported a speed.
      const isSilent = 'field' in when && values['speed'] !== undefined
      judge(isSilent ? undefined : holdsAt(one.stop, {}), one, false)
    }
  }
  const heard = new Set<StopNews>()
  for (const [n, input] of inputs.entries()) {
    const { at: received, north, values } = input
    beSilent(received)
    raiseBy(received, 'received')
    const place = places.find(({ index }) => index === n)
    if (place !== undefined || (current[n] !== undefined && isOfNow(input, current[n]))) {
      const at = place?.at ?? received
      if (place !== undefined) {
        raiseBy(at, 'at')
        const wasInside = isInside
        isInside = isInside ? place.north <= LEAVE : north! < ENTER
        if (isInside && !wasInside) enteredAt = at
      }
      const { stop } = news.find(({ index }) => index === n) ?? {}
      judge(holdsAt(stop, values), { at, received, ...(stop && { stop }) }, place !== undefined)
    }
    if (n === changedAfter) {
      raiseBy(received, 'received')
      changedAt = received + LATER
      began = undefined
      isRaised = false
    }
  }
  beSilent(end)
  raiseBy(end, 'received')
  return told
}

type Began = { readonly at: number; readonly received: number }

/** Positions after the last one judged: later, or at the same time but received later. */
function placesOf(inputs: readonly Said[]): Place[] {
  const places: Place[] = []
  for (const [index, { at: received, made, north, repeats }] of inputs.entries()) {
    if (made === undefined || north === undefined || repeats !== undefined) continue
    const at = Math.min(made, received)
    if (at >= (places.at(-1)?.at ?? -Infinity)) places.push({ index, at, received, north })
  }
  return places
}

/** The judged positions and the repeats of the last one. */
function sightings(inputs: readonly Said[], current: readonly (number | undefined)[]): Place[] {
  const places = placesOf(inputs)
  return inputs.flatMap(({ at, repeats }, index): Place[] => {
    const place = places.find((one) => one.index === (repeats ?? index))
    if (place === undefined || (repeats !== undefined && repeats !== current[index])) return []
    return [repeats === undefined ? place : { ...place, index, at, received: at, isRepeat: true }]
  })
}

/** The index of the last position judged, at each input. */
function currentPositions(inputs: readonly Said[]): readonly (number | undefined)[] {
  const places = placesOf(inputs).map(({ index }) => index)
  return inputs.map((_, n) => places.findLast((index) => index <= n))
}

/** Whether an input has current values: heartbeats and repeats of the last position do. */
function isOfNow({ made, repeats }: Said, current: number): boolean {
  return repeats === undefined ? made === undefined : repeats === current
}

function holdsNow(
  when: Exclude<When, { silent: true } | { stopped: true }>,
  values: Said['values'],
  isInside: boolean,
  hasBegun: boolean,
): boolean | undefined {
  if ('inside' in when) return isInside
  if ('outside' in when) return !isInside
  const value = values[when.field]
  if (value === undefined) return undefined
  if ('is' in when) return value === when.is
  if (typeof value !== 'number') return undefined
  const limit = hasBegun ? when.clear : undefined
  return 'above' in when ? value > (limit ?? when.above) : value < (limit ?? when.below)
}

/**
 * Every input from the first position on is a sign of life. A change restarts a silence, even a
 * raised one.
 */
function silences(
  { forSeconds, changedAfter = Infinity }: ModelRule,
  inputs: readonly Said[],
  end: number,
): Told[] {
  const first = inputs.findIndex(({ made }) => made !== undefined)
  if (first === -1) return []
  const changedAt = (inputs[changedAfter]?.at ?? -Infinity) + LATER
  const begins = inputs.slice(first).map(({ at }) => ({ at, isSign: true }))
  if (changedAt > begins[0]!.at) begins.push({ at: changedAt, isSign: false })
  begins.sort((a, b) => a.at - b.at)
  return begins.flatMap(({ at }, n): Told[] => {
    const next = begins[n + 1]
    const raisedAt = at + forSeconds
    if (raisedAt > (next?.at ?? end)) return []
    return next?.isSign === true
      ? [
          ['raised', raisedAt],
          ['cleared', next.at],
        ]
      : [['raised', raisedAt]]
  })
}
