import type { components } from '../../api/schema.ts'

export type Operator = components['schemas']['Operator']

export type DialogOfOne = {
  readonly of: Operator
  readonly onDone: () => void
  readonly onClose: () => void
}

/** What a form says; the API refuses everything else. */
export function roleOf(text: string | undefined): Operator['role'] {
  return text === 'admin' ? 'admin' : 'viewer'
}
