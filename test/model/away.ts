import { DependencyError } from '../../runtime/errors.ts'

/** How a log or a store says that a retry may help. */
export function away(): DependencyError {
  return new DependencyError('the log is away', { retriable: true })
}
