import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { fieldFailure } from '../../core/failure.ts'
import type { ApiSubscription } from '../../core/notification-words.ts'
import { fromInput, toInput } from '../../core/times.ts'
import { may } from '../../live/session.ts'
import { now } from '../../ui/clock.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import type { MenuAction } from '../../ui/menu.tsx'
import { MomentInput } from '../../ui/moment-input.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { GRACES } from '../../ui/secret.tsx'
import { SelectField } from '../../ui/choice-fields.tsx'
import { NewSecret, NotificationForm } from './notification-form.tsx'

type Props = DialogProps & { readonly of: ApiSubscription }

/** The actions on a notification, and their dialogs. Viewers cannot change any. */
export function useNotificationActions(onDone: () => void) {
  const { dialog, open } = useDialog(onDone)
  const actionsOn = (one: ApiSubscription): readonly MenuAction[] =>
    !may('subscriptions.edit')
      ? []
      : [
          ...(one.state === 'disabled' ? [{ word: 'Enable', Dialog: Enable }] : []),
          ...(one.state === 'failing' ? [{ word: 'Try now', Dialog: Enable }] : []),
          { word: 'Edit', Dialog: NotificationForm },
          ...(one.target.kind === 'webhook'
            ? [{ word: 'Replace secret', Dialog: ReplaceSecret }]
            : []),
          { word: 'Rewind', Dialog: Rewind },
          { word: 'Delete', Dialog: Delete, isDangerous: true },
        ].map(({ Dialog, ...action }) => ({
          ...action,
          run: () => open((props) => <Dialog of={one} {...props} />),
        }))
  return { dialog, open, actionsOn }
}

function Enable({ of: { id, name, state, waiting }, ...props }: Props) {
  const isDisabled = state === 'disabled'
  return (
    <FormDialog
      {...props}
      title={isDisabled ? 'Enable notification' : 'Try now'}
      button={isDisabled ? 'Enable' : 'Try now'}
      submit={() => api.post('/subscriptions/{id}/enable', { path: { id } })}
      done="It is tried now."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> continues where it stopped
        {waiting === undefined
          ? '.'
          : ' and sends the waiting items. To skip them, rewind it to now first.'}
      </p>
    </FormDialog>
  )
}

/** Gives a webhook a new secret. */
function ReplaceSecret({ of: { id, name }, ...props }: Props) {
  const [secret, setSecret] = useState<string>()

  async function replace({ graceSeconds }: Values) {
    const body = { graceSeconds: Number(graceSeconds) }
    const made = await api.post('/subscriptions/{id}/rotate', { path: { id }, body })
    setSecret(made.secret)
  }

  if (secret !== undefined) {
    return <NewSecret title="New secret" name={name} secret={secret} onClose={props.onClose} />
  }
  return (
    <FormDialog {...props} title="Replace secret" button="Replace secret" submit={replace}>
      <p>
        Requests of <Isolated class="strong">{name}</Isolated> are signed with a new secret.
      </p>
      <SelectField
        name="graceSeconds"
        label="Also sign with the old secret"
        hint="Give your program the new one by then."
        options={GRACES}
        value="604800"
      />
    </FormDialog>
  )
}

/** Moves a notification forward or back in the log. */
function Rewind({ of: { id, name }, ...props }: Props) {
  const [place, setPlace] = useState('time')
  const zone = readerZone()
  const [moment, setMoment] = useState(() => toInput(now.value - 3_600_000, zone))

  async function rewind({ to = '' }: Values) {
    const ms = fromInput(to, zone)
    const isTime = place === 'time'
    if (isTime && (ms === undefined || ms > now.value)) {
      throw fieldFailure('to', 'Enter a time that has passed.')
    }
    const body = { to: isTime ? new Date(ms ?? 0).toISOString() : place }
    await api.post('/subscriptions/{id}/rewind', { path: { id }, body })
  }

  return (
    <FormDialog
      {...props}
      title="Rewind notification"
      button="Rewind"
      submit={rewind}
      done="Notification rewound."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> sends everything after that point, including what
        it has sent before.
      </p>
      <SelectField
        name="place"
        label="Continue from"
        options={[
          ['time', 'A time'],
          ['start', 'The start'],
          ['now', 'Now: skip waiting items'],
        ]}
        value={place}
        onChange={setPlace}
      />
      {place === 'time' && (
        <Field name="to" label="Time" hint={`In ${zone}.`}>
          {(attributes) => (
            <MomentInput {...attributes} label="Time" value={moment} onChange={setMoment} />
          )}
        </Field>
      )}
    </FormDialog>
  )
}

function Delete({ of: { id, name }, ...props }: Props) {
  return (
    <FormDialog
      {...props}
      title="Delete notification"
      button="Delete notification"
      danger
      submit={() => api.delete('/subscriptions/{id}', { path: { id } })}
      done="Notification deleted."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> sends nothing more, and its list of deliveries is
        deleted.
      </p>
    </FormDialog>
  )
}
