import { DependencyError } from '../../runtime/errors.ts'

/** The error with which a log or store asks for a retry. */
export function away(): DependencyError {
  return new DependencyError('the log is away', { retriable: true })
}
