import type { DeviceRule } from '../../../schemas/definitions/device-rule.ts'
import type { Geofence } from '../../../schemas/definitions/geofence.ts'
import { isSelected } from '../../../schemas/definitions/selection.ts'
import { decide } from '../../../projector/facts/decide.ts'
import { GeofenceIndex, prepareGeofence } from '../../../schemas/geo/geofence-index.ts'
import type {
  Decision,
  DeviceDefinitions,
  FactInput as Input,
  Hearing,
  JudgedPosition,
} from '../../../projector/facts/decider.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import { T0 } from '../../samples.ts'

/** One degree of latitude. */
export const DEGREE_METRES = 111_195.08

export const HOME = { latitude: 45.27, longitude: 13.7 }

let made = 0

export function geofence(changes: Partial<Geofence> = {}): Geofence {
  made += 1
  return {
    id: `fence-${String(made).padStart(4, '0')}`,
    accountId: 'acc-1',
    createdAt: T0 - DAY_MS,
    changedAt: T0 - DAY_MS,
    revision: 1,
    inForceSince: T0 - DAY_MS,
    name: 'Depot',
    shape: { type: 'circle', ...HOME, radius: 60 },
    confirmSeconds: 0,
    enabled: true,
    ...changes,
  }
}

export function rule(changes: Pick<DeviceRule, 'when'> & Partial<DeviceRule>): DeviceRule {
  made += 1
  return {
    id: `rule-${String(made).padStart(4, '0')}`,
    accountId: 'acc-1',
    createdAt: T0 - DAY_MS,
    changedAt: T0 - DAY_MS,
    revision: 1,
    name: 'Rule',
    forSeconds: 0,
    enabled: true,
    ...changes,
  }
}

const DAY_MS = 24 * 3_600_000

export function definitions({
  offlineAfterMs = 10 ** 9,
  geofences = [],
  rules = [],
  isWatched = true,
  selectedSince = 0,
  labels = [],
}: {
  offlineAfterMs?: number
  geofences?: readonly Geofence[]
  rules?: readonly DeviceRule[]
  isWatched?: boolean
  selectedSince?: number
  labels?: readonly string[]
} = {}): DeviceDefinitions {
  const device = { deviceId: 'tracker-1', labels }
  return {
    offlineAfterMs,
    geofences: {
      index: new GeofenceIndex(geofences.map(prepareGeofence)),
      applies: (one) => isSelected(one, device),
      selectedSince,
    },
    rules: rules.filter((one) => one.enabled && isSelected(one, device)),
    isWatched,
  }
}

/** A position these many metres north and east of HOME. */
export function at(
  seconds: number,
  {
    north = 0,
    east = 0,
    received = seconds,
    ...fields
  }: Partial<JudgedPosition> & {
    north?: number
    east?: number
    received?: number
  } = {},
): Input & { kind: 'position' } {
  made += 1
  const receivedAt = T0 + received * 1_000
  const position: JudgedPosition = {
    recordId: `position-${String(made).padStart(6, '0')}`,
    latitude: HOME.latitude + north / DEGREE_METRES,
    longitude: HOME.longitude + east / (DEGREE_METRES * Math.cos((HOME.latitude * Math.PI) / 180)),
    timestamp: T0 + seconds * 1_000,
    receivedAt,
    ...fields,
  }
  return { kind: 'position', position, isLate: false, isRepeat: false, receivedAt }
}

export function heartbeat(
  seconds: number,
  fields: { battery?: number; attributes?: Record<string, string | number | boolean> } = {},
): Input & { kind: 'heartbeat' } {
  made += 1
  return {
    kind: 'heartbeat',
    receivedAt: T0 + seconds * 1_000,
    ...fields,
  }
}

/** A device whose inputs are judged as they arrive; before each, time advances to its receipt. */
export class JudgedDevice {
  definitions: DeviceDefinitions
  hearing: Omit<Hearing, 'now'> = { since: -Infinity, graceMs: 0 }
  /**
   * The device goes offline only after the tests' end, so only geofences and rules decide anything.
   */
  #state: FactState = {
    sequence: 0,
    applied: {},
    due: null,
    liveness: { seenAt: 0, offlineAt: T0 + 10 ** 12, due: null },
  }

  constructor(known: DeviceDefinitions) {
    this.definitions = known
  }

  /** The decisions as text: `entered fence-0001 @60`, seconds since T0. */
  judge(...inputs: readonly Input[]): string[] {
    return this.decide(...inputs).map(told)
  }

  decide(...inputs: readonly Input[]): Decision[] {
    return inputs.flatMap((input) => {
      if (input.kind === 'time') throw new Error('use passTime')
      const passed = this.#letPass(input.receivedAt)
      return [...passed, ...this.#judge(input)]
    })
  }

  /** A sweep at this time. */
  passTime(seconds: number): string[] {
    return this.#letPass(T0 + seconds * 1_000).map(told)
  }

  /** Recomputes its deadlines, as after a change of settings or rules. */
  lookAgain(seconds: number): void {
    this.#state = { ...this.#state, due: Math.min(this.due ?? Infinity, T0 + seconds * 1_000) }
  }

  get state() {
    return this.#state.definitions
  }

  get due(): number | null {
    return this.#state.due
  }

  get inside(): string[] {
    const standings = Object.entries(this.state?.geofences.standings ?? {})
    return standings.flatMap(([id, { side }]) => (side === 'inside' ? [id] : []))
  }

  #letPass(now: number): Decision[] {
    const decisions: Decision[] = []
    while (this.due !== null && this.due <= now) {
      decisions.push(
        ...this.#judge({ kind: 'time', at: this.due, hearing: { ...this.hearing, now } }),
      )
    }
    return decisions
  }

  #judge(input: Input): readonly Decision[] {
    const { state, decisions } = decide(this.#state, input, this.definitions)
    // In its stored form.
    this.#state = JSON.parse(JSON.stringify(state)) as FactState
    return decisions.map(({ decision }) => decision)
  }
}

function told(decision: Decision): string {
  const [, what] = decision.type.split('.')
  const seconds = (decision.at - T0) / 1_000
  const id =
    'geofence' in decision ? decision.geofence.id : 'rule' in decision ? decision.rule.id : ''
  return `${what} ${id} @${seconds}`
}
