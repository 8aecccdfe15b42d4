import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { outcomeText, type TestOutcome } from '../../core/notification-words.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'

/** Sends a test, and shows what the receiver answered. */
export function TryReceiver({ id, onSent }: { id: string; onSent?: () => void }) {
  const [outcome, setOutcome] = useState<TestOutcome>()
  const { run, isRunning, failure } = useAction(async () => {
    setOutcome(undefined)
    setOutcome(await api.post('/subscriptions/{id}/test', { path: { id } }))
    onSent?.()
  })
  return (
    <div class="stack near">
      <div class="row">
        <button type="button" disabled={isRunning} onClick={run}>
          Send a test
        </button>
        <div role="status">
          {isRunning ? 'Sending…' : outcome && <ReceiverAnswer of={outcome} />}
        </div>
      </div>
      {failure !== undefined && <FailedLine failure={failure} />}
    </div>
  )
}

/** What a receiver answered, in words, and the beginning of its text. */
export function ReceiverAnswer({ of: outcome }: { of: TestOutcome }) {
  const { status = 0, answer } = outcome
  return (
    <>
      <span class={status >= 200 && status < 300 ? undefined : 'wrong'}>
        {outcomeText(outcome)}
      </span>
      {answer !== '' && (
        <pre class="note">
          <Isolated>{answer}</Isolated>
        </pre>
      )}
    </>
  )
}
