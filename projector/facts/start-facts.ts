import type { EventLog } from '../../event-log/event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import type { Program } from '../../runtime/process/program.ts'
import type { Instances } from '../../store/back-office.ts'
import type { AdoptionStore, DefinitionStore } from '../../store/definitions.ts'
import type { FactStore } from '../../store/facts.ts'
import type { Operators } from '../../store/operators.ts'
import type { Devices } from '../../store/read-models.ts'
import type { Judging } from './judge-apart.ts'
import type { JudgingInUse } from '../project-in-use.ts'
import { adoptDevices } from './adopt.ts'
import { beginJudging } from './begin.ts'
import { followDefinitions } from './definitions.ts'
import { noteFailures } from './device-failures.ts'
import { watchHearing } from './hearing.ts'
import { sweepDeadlines } from './sweep.ts'

const SWEEP_EVERY_MS = 1_000
const ADOPT_EVERY_MS = 1_000
/** How long an entry may be on its way into the log. */
const EMBEDDED_GRACE_MS = 2_000
const KAFKA_GRACE_MS = 10_000

/** Starts the sweep of deadlines. Returns the means by which the projector judges what it has stored. */
export function startFacts(
  {
    eventLog,
    store,
    topic,
  }: {
    eventLog: Pick<EventLog, 'extent'>
    topic?: Judging['topic']
    store: FactStore &
      Pick<Operators, 'pageAccounts'> &
      Pick<DefinitionStore, 'changedGeofences' | 'changedRules' | keyof AdoptionStore> &
      Pick<Devices, 'placeDevices'> &
      Pick<Instances, 'instances' | 'waitingSpools'>
  },
  { config, lifecycle, logger, metrics }: Program,
): JudgingInUse {
  const definitions = followDefinitions(store, clock)
  const hearing = watchHearing({
    store,
    clock,
    graceMs: config.factsGraceSeconds * 1_000,
    spoolMaxAgeMs: config.spoolMaxAgeSeconds * 1_000,
    // The ingest API of the embedded process has started with it.
    isEmbedded: config.distributed === undefined,
  })
  const failures = noteFailures({ clock, metrics, logger })
  const judging = { store, definitions, hearing, failures, clock, metrics, topic }
  const graceMs = config.distributed === undefined ? EMBEDDED_GRACE_MS : KAFKA_GRACE_MS
  const sweep = sweepDeadlines({ ...judging, eventLog, graceMs })
  lifecycle.every('sweep of deadlines', SWEEP_EVERY_MS, sweep)
  lifecycle.every(
    'adoption of devices',
    ADOPT_EVERY_MS,
    adoptDevices({ ...judging, signal: lifecycle.stopping }),
  )
  return {
    ...judging,
    async prepare() {
      await definitions.prepare()
      await hearing.look()
    },
    begin: beginJudging({ store, eventLog, definitions, clock }),
  }
}
