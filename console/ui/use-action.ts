import { useCallback, useState } from 'preact/hooks'
import { toFailure, type ApiFailure } from '../core/failure.ts'

export type Action = {
  readonly run: () => void
  readonly isRunning: boolean
  readonly failure: ApiFailure | undefined
}

/** A button's action that takes a while and may fail. */
export function useAction(work: () => Promise<void>): Action {
  const [state, setState] = useState<{ isRunning: boolean; failure?: ApiFailure }>({
    isRunning: false,
  })
  const run = useCallback(() => {
    setState({ isRunning: true })
    work().then(
      () => setState({ isRunning: false }),
      (thrown: unknown) => setState({ isRunning: false, failure: toFailure(thrown) }),
    )
  }, [work])
  return { run, isRunning: state.isRunning, failure: state.failure }
}
