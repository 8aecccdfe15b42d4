/** A geofence on the devices' north–south line, in metres to the north. */
export type Yard = {
  readonly north: number
  readonly radius: number
  readonly confirmSeconds: number
  readonly enabled: boolean
}

/** An operator changes the geofence, or saves it as it is. */
export type Redefinition = {
  readonly kind: 'redefinition'
  readonly at: number
  readonly yard: Yard
  /** The projector had let time pass until then. */
  readonly passed: number
}

/** A reported entry or exit; an exit has the time of entry. */
export type Told =
  | { readonly type: 'geofence.entered'; readonly at: number }
  | { readonly type: 'geofence.left'; readonly at: number; readonly enteredAt: number | null }

export type Fix = { readonly at: number; readonly receivedAt: number; readonly north: number }

/** The visits of one device; the geofence has been in force since `since`. */
export type Visits = {
  readonly last?: Fix
  readonly inside?: { readonly since: number | null }
  /** Until the device has been on the other side for long enough. */
  readonly wait?: Fix
}

/** How far outside a device must be for it to have left. */
const EDGE = 20

/** When the wait ends if no position comes. */
export function endOfVisit({ wait }: Visits, { confirmSeconds }: Yard): number | undefined {
  return wait && wait.receivedAt + 1_000 * confirmSeconds
}

/** The wait is over. */
export function changedSides({ last, inside, wait }: Visits): [Visits, Told] {
  if (wait === undefined) throw new Error('it does not wait')
  return cross({ ...(last && { last }), ...(inside && { inside }) }, wait)
}

function cross({ last, inside }: Visits, { at }: Fix): [Visits, Told] {
  const place = last && { last }
  if (inside === undefined) {
    return [
      { ...place, inside: { since: at } },
      { type: 'geofence.entered', at },
    ]
  }
  return [{ ...place }, { type: 'geofence.left', at, enteredAt: inside.since }]
}

/** A position after the last one. */
export function visit(before: Visits, fix: Fix, yard: Yard, since: number): [Visits, Told[]] {
  const told: Told[] = []
  let visits: Visits = { ...before, last: fix }
  if (!yard.enabled) return [visits, told]
  const [isIn, isOut] = [contains(yard, fix), isBeyond(yard, fix)]
  if (fix.receivedAt < since) {
    // It decides nothing, but the geofence uses the device's last position.
    const { inside, wait } = visits
    if (wait !== undefined || (inside !== undefined && inside.since !== null)) return [visits, told]
    if (isIn) return [{ last: fix, inside: { since: null } }, told]
    return [isOut ? { last: fix } : visits, told]
  }
  const wait = visits.wait
  if (wait !== undefined && wait.at + 1_000 * yard.confirmSeconds <= fix.at) {
    const [next, fact] = changedSides(visits)
    visits = next
    told.push(fact)
  } else if (wait !== undefined) {
    const isBack = visits.inside === undefined ? isOut : isIn
    if (isBack) visits = { last: fix, ...(visits.inside && { inside: visits.inside }) }
    return [visits, told]
  }
  if (visits.inside === undefined ? !isIn : !isOut) return [visits, told]
  if (yard.confirmSeconds > 0) return [{ ...visits, wait: fix }, told]
  const [next, fact] = cross(visits, fix)
  return [next, [...told, fact]]
}

/**
 * Undefined if the result depends on the machine: without an entry fact, a device is outside after
 * the change, and after a crash it is not known to have been inside.
 */
export function redefined({ last, inside }: Visits, yard: Yard): Visits | undefined {
  const place = last && { last }
  if (!yard.enabled || last === undefined) return { ...place }
  if (inside?.since === null && !contains(yard, last)) return undefined
  if (inside !== undefined) return { ...place, inside }
  return contains(yard, last) ? { ...place, inside: { since: null } } : { ...place }
}

function contains({ north, radius }: Yard, fix: Fix): boolean {
  return Math.abs(fix.north - north) < radius
}

function isBeyond({ north, radius }: Yard, fix: Fix): boolean {
  return Math.abs(fix.north - north) > radius + EDGE
}
