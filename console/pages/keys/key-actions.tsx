import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { Field } from '../../ui/form.tsx'
import { MomentInput } from '../../ui/moment-input.tsx'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { readLimits, type KeyWithSecret, type Key } from './key-words.ts'
import { toInput } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { SelectField } from '../../ui/choice-fields.tsx'
import { Time, Ago } from '../../ui/time.tsx'
import { GRACES, KeepSecret } from '../../ui/secret.tsx'
import { DevicesOfKey, KeyDevices } from './key-parts.tsx'
import { may } from '../../live/session.ts'
import type { MenuAction } from '../../ui/menu.tsx'

/**
 * The actions on a key, and their dialogs: a revoked key cannot be changed, and viewers cannot
 * change any.
 */
export function useKeyActions(onDone: () => void) {
  const { dialog, open } = useDialog(onDone)
  const actionsOn = (key: Key): MenuAction[] =>
    (key.status === 'revoked' || !may('keys.edit') ? LOOKS : [...LOOKS, ...CHANGES]).map(
      ({ Dialog, ...action }) => ({
        ...action,
        run: () => open((props) => <Dialog of={key} {...props} />),
      }),
    )
  return { dialog, open, actionsOn }
}

const CHANGES = [
  { word: 'Edit', Dialog: EditKey },
  { word: 'Replace secret', Dialog: ReplaceSecret },
  { word: 'Revoke', Dialog: RevokeKey, isDangerous: true },
]

const LOOKS = [{ word: 'Devices', Dialog: KeyDevices }]

function EditKey({ of, ...props }: DialogProps & { of: Key }) {
  return (
    <FormDialog
      {...props}
      title="Edit key"
      button="Save"
      submit={async (values) => {
        const body = changesOf(of, readLimits(values, readerZone()))
        if (Object.keys(body).length === 0) return
        await api.patch('/keys/{id}', { path: { id: of.id }, body })
      }}
      done="Key saved. Changes apply within 5 s."
    >
      <Field name="name" label="Name" defaultValue={of.name} autoFocus autoComplete="off" />
      <LimitFields of={of} />
    </FormDialog>
  )
}

/**
 * Only the changed fields: a field has no seconds, and an expiry in the past cannot be set again.
 */
function changesOf(of: Key, wanted: ReturnType<typeof readLimits>) {
  const { name, expiresAt, deviceIds, rateLimit } = wanted
  return {
    ...(name !== of.name && { name }),
    ...(expiresAt?.slice(0, 16) !== of.expiresAt?.slice(0, 16) && { expiresAt }),
    ...(JSON.stringify(deviceIds) !== JSON.stringify(of.deviceIds) && { deviceIds }),
    ...(rateLimit !== of.rateLimit && { rateLimit }),
  }
}

/** Fields for a key's limits; without `of`, for a new key. */
export function LimitFields({ of }: { of?: Key }) {
  const zone = readerZone()
  const [expires, setExpires] = useState(() =>
    of?.expiresAt ? toInput(Date.parse(of.expiresAt), zone) : '',
  )
  return (
    <>
      <Field name="expiresAt" label="Expires" hint={`In ${zone}. Leave empty for no expiry.`}>
        {(attributes) => (
          <MomentInput {...attributes} label="Expires" value={expires} onChange={setExpires} />
        )}
      </Field>
      <Field
        name="deviceIds"
        label="Only for these devices"
        hint="One device id per line; van-* covers all that start with van-. Leave empty for all devices."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            spellcheck={false}
            defaultValue={of?.deviceIds?.join('\n') ?? ''}
          />
        )}
      </Field>
      <Field
        name="rateLimit"
        label="Positions per minute"
        type="text"
        inputMode="numeric"
        hint="Reports beyond it are rejected. Leave empty for the limit of the service."
        {...(typeof of?.rateLimit === 'number' && { defaultValue: String(of.rateLimit) })}
      />
    </>
  )
}

/** Gives a key a new secret; the previous one works for a while, so that senders can be changed. */
function ReplaceSecret({ of, ...props }: DialogProps & { of: Key }) {
  const [grace, setGrace] = useState('604800')
  const [made, setMade] = useState<KeyWithSecret>()
  const graceSeconds = Number(grace)

  async function replace() {
    setMade(await api.post('/keys/{id}/rotate', { path: { id: of.id }, body: { graceSeconds } }))
  }

  if (made !== undefined) return <KeySecret {...props} of={made} title="New secret" />
  return (
    <FormDialog {...props} title="Replace secret" button="Replace secret" submit={replace}>
      <p>
        <Isolated class="strong">{of.name}</Isolated> gets a new secret. Its name, limits and
        history stay.
      </p>
      <SelectField
        name="graceSeconds"
        label="The old secret keeps working"
        hint={
          graceSeconds === 0 ? (
            'It stops working immediately.'
          ) : (
            <>
              Until <Time at={new Date(now.value + graceSeconds * 1_000).toISOString()} />. Give
              your senders the new one by then.
            </>
          )
        }
        options={GRACES}
        value={grace}
        onChange={setGrace}
      />
    </FormDialog>
  )
}

/** Shows a key's secret, only this once. */
export function KeySecret({
  of: { name, key, previousValidUntil },
  ...props
}: {
  of: KeyWithSecret
  title: string
  onClose: () => void
}) {
  const notice = (
    <>
      Copy the secret of <Isolated class="strong">{name}</Isolated> now. It is shown only once.
    </>
  )
  return (
    <KeepSecret {...props} notice={notice} text={key}>
      {previousValidUntil !== null && (
        <p>
          The old secret works until <Time at={previousValidUntil} />.
        </p>
      )}
    </KeepSecret>
  )
}

function RevokeKey({ of: { id, name, hint, lastUsedAt }, ...props }: DialogProps & { of: Key }) {
  return (
    <FormDialog
      {...props}
      title="Revoke key"
      button="Revoke key"
      danger
      submit={() => api.post('/keys/{id}/revoke', { path: { id } })}
      done="Key revoked. It stops working within 5 seconds."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> (<code>{hint}</code>) stops working within 5
        seconds, for good.{' '}
        {lastUsedAt === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Ago at={lastUsedAt} />.
          </>
        )}
      </p>
      <h3>Devices that report with it</h3>
      <DevicesOfKey keyId={id} />
    </FormDialog>
  )
}
