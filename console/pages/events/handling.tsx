import { handlingCalls, handlingText } from '../../core/alarms.ts'
import type { ApiFact } from '../../core/device-facts.ts'
import { changeHandling, handlingOf } from '../../live/alarms.ts'
import { may, me } from '../../live/session.ts'
import { FormDialog, useDialog } from '../../ui/form-dialog.tsx'
import { Field } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { formatMoment } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'

const WORDS = { take: 'Take', close: 'Close', release: 'Give back' } as const
const LONGEST_NOTE = 500

/** Shows who has handled an alarm or raised rule since when, with buttons to change it. */
export function HandlingLine({ of: fact, subject }: { of: ApiFact; subject: string }) {
  const { dialog, open } = useDialog(() => undefined)
  const taking = useAction(() => changeHandling(fact, 'take'))
  const releasing = useAction(() => changeHandling(fact, 'release'))
  if (!me.value) return null
  const { operator } = me.value
  const handling = handlingOf(fact)
  const text = handlingText(handling, operator.email)
  const failure = taking.failure ?? releasing.failure
  const run = {
    take: taking.run,
    release: releasing.run,
    close: () => open((props) => <CloseAlarm of={fact} {...props} />),
  }
  return (
    <span class="handling row">
      {text !== undefined && handling !== undefined && (
        <span class="note">
          <Isolated>{text}</Isolated>, {formatMoment(Date.parse(handling.at)).replace('today ', '')}
          {handling.note !== undefined && (
            <>
              {': '}
              <Isolated>{handling.note}</Isolated>
            </>
          )}
        </span>
      )}
      {may('facts.handle') &&
        handlingCalls(handling, operator).map((call) => {
          const word = handling?.state === 'closed' ? 'Open again' : WORDS[call]
          return (
            <button
              key={call}
              type="button"
              class="small"
              aria-label={`${word}: ${subject}`}
              disabled={taking.isRunning || releasing.isRunning}
              onClick={run[call]}
            >
              {word}
            </button>
          )
        })}
      {failure !== undefined && <FailedLine failure={failure} />}
      {dialog}
    </span>
  )
}

function CloseAlarm({
  of: fact,
  ...props
}: {
  of: ApiFact
  onDone: () => void
  onClose: () => void
}) {
  return (
    <FormDialog
      {...props}
      title="Close the alarm"
      button="Close the alarm"
      submit={({ note = '' }) => changeHandling(fact, 'close', note.trim())}
      done="Closed for everybody."
    >
      <Field
        name="note"
        label="Note"
        hint="For colleagues, and in the audit. It may be empty."
        placeholder="False alarm"
        maxLength={LONGEST_NOTE}
        autoComplete="off"
        autoFocus
      />
    </FormDialog>
  )
}
