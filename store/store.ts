import type { Audit, Instances, Outdated, Shares } from './back-office.ts'
import type { Keys } from './keys.ts'
import type { Operators } from './operators.ts'
import type { FactStore } from './facts.ts'
import type { Handlings } from './handlings.ts'
import type { DefinitionStore } from './definitions.ts'
import type { Rejections } from './rejections.ts'
import type { SubscriptionStore } from './subscriptions.ts'
import type { Generations } from './generations.ts'
import type { Devices, Erasures, ReadModels } from './read-models.ts'

/**
 * The data that the services store and query. Every method may throw a `DependencyError`: `retriable` when
 * the store is unavailable or busy. Times are milliseconds since the epoch.
 */
export interface Store
  extends
    ReadModels,
    Generations,
    Erasures,
    Devices,
    Keys,
    Operators,
    Shares,
    DefinitionStore,
    Audit,
    Rejections,
    Instances,
    Outdated,
    FactStore,
    Handlings,
    SubscriptionStore {
  /**
   * Resolves if the store responds.
   * @throws {DependencyError} that names the missing part.
   */
  ready(): Promise<void>
  close(): Promise<void>
}
