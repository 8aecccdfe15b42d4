import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { timeOfDayText } from '../../core/date-words.ts'
import { FACT_WORDS } from '../../core/device-facts.ts'
import { fieldFailure, toFailure } from '../../core/failure.ts'
import {
  ABOUT,
  AGE_UNITS,
  splitAge,
  everySecondsOf,
  eventFields,
  hoursOf,
  maxAgeSecondsOf,
  subjectOf,
  parseTargetDraft,
  type About,
} from '../../core/notification-draft.ts'
import {
  DAYS,
  KINDS,
  receiverText,
  describeSubject,
  type ApiSubscription,
  type DefinitionNames,
  type ReceiverKind,
} from '../../core/notification-words.ts'
import { changeSaver } from '../../core/save-change.ts'
import { toastOthers } from '../../ui/others-changed.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { CheckGroup, Select, SelectField, type Choices } from '../../ui/choice-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated, isolate } from '../../ui/isolated.tsx'
import { findIn, PickMany } from '../../ui/pick.tsx'
import { clockHours, createPreference, readerZone } from '../../ui/preferences.ts'
import { KeepSecret } from '../../ui/secret.tsx'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'
import { useWhom } from '../geofences/whom.tsx'
import { TryReceiver, TargetFields } from './target-fields.tsx'

const LONGEST_NAME = 64

/** The kind of receiver last selected in this browser. */
const lastKind = createPreference<ReceiverKind | ''>('receiver', '', (text) =>
  text in KINDS ? (text as ReceiverKind) : '',
)

type Made = ApiSubscription & { readonly secret?: string }

/** A new or edited notification: which events, of which devices, and when, are sent to whom. */
export function NotificationForm({
  of: before,
  draft = { source: 'facts', types: [] },
  ...props
}: DialogProps & {
  of?: ApiSubscription
  /** The subject of a new notification. */
  draft?: Partial<ApiSubscription>
}) {
  const rules = choices(useRules().data)
  const geofences = choices(useGeofenceNames().data)
  const whom = useWhom(before ?? {})
  const [subject, setSubject] = useState(() => subjectOf(before ?? draft))
  const [days, setDays] = useState<readonly string[]>(before?.hours?.days.map(String) ?? [])
  const [wanted, setKind] = useState<ReceiverKind | ''>(before ? '' : lastKind.peek())
  const [made, setMade] = useState<Made>()
  const [save] = useState(
    () =>
      before &&
      changeSaver<ApiSubscription>(before, {
        send: (body) => api.patch('/subscriptions/{id}', { path: { id: before.id }, body: body }),
        read: () => api.get('/subscriptions/{id}', { path: { id: before.id } }),
      }),
  )
  const { about } = subject
  const isOfPositions = about === 'positions'
  const kind = isOfPositions && !(before && wanted === '') ? 'webhook' : wanted
  const receiver = kind === '' ? before?.target.kind : kind
  const set = (change: Partial<typeof subject>) => setSubject({ ...subject, ...change })

  async function submit(values: Values) {
    const fields = {
      ...eventFields(subject),
      ...whom.read(),
      hours: hoursOf(days, values),
      zone: values['zone']?.trim() || null,
      everySeconds: everySecondsOf(values),
      maxAgeSeconds: maxAgeSecondsOf(values),
      ...(kind !== '' && { target: parseTargetDraft(kind, values) }),
    }
    const source = isOfPositions ? 'positions' : 'facts'
    const names: DefinitionNames = new Map([...rules, ...geofences])
    const usual = describeSubject({ source, ...dropNulls(fields) }, names).slice(0, LONGEST_NAME)
    const body = { name: values['name']?.trim() || usual, ...fields }
    if (kind === '' && before === undefined) throw fieldFailure('target.kind', 'Choose a receiver.')
    try {
      if (save === undefined) {
        setMade(await api.post('/subscriptions', { body: { source, ...body } as never }))
        lastKind.value = kind
      } else {
        toastOthers((await save(body)).others)
      }
    } catch (failure) {
      throw toFailure(failure).details.some(({ field }) => field === 'target.kind')
        ? fieldFailure('target.kind', 'E-mail needs a mail server: set SMTP_URL and SMTP_FROM.')
        : failure
    }
  }

  if (made !== undefined) return <MadeNotification of={made} onClose={props.onClose} />
  return (
    <FormDialog
      {...props}
      title={before === undefined ? 'New notification' : 'Edit notification'}
      button="Save"
      submit={submit}
      {...(before && { done: 'Notification changed.' })}
    >
      {before?.source !== 'positions' && (
        <SelectField
          name="about"
          label="When"
          options={Object.entries(ABOUT).filter(([one]) => !before || one !== 'positions')}
          value={about}
          onChange={(next) => set({ about: next as About })}
        />
      )}
      {about === 'events' && (
        <CheckGroup
          name="types"
          label="Events"
          class="tiles tight"
          options={Object.entries(FACT_WORDS)}
          chosen={subject.types}
          set={(types) => set({ types })}
        />
      )}
      {(about === 'rules' || (about === 'events' && subject.ruleIds.length > 0)) && (
        <CheckGroup
          name="ruleIds"
          label="Rules"
          {...(rules.length === 0 && { hint: 'There is no rule yet: create one first.' })}
          class="tiles tight"
          options={rules}
          chosen={subject.ruleIds}
          set={(ruleIds) => set({ ruleIds })}
        />
      )}
      {about === 'rules' && (
        <label class="check">
          <input
            type="checkbox"
            checked={subject.ends}
            onChange={({ currentTarget }) => set({ ends: currentTarget.checked })}
          />
          Also their end
        </label>
      )}
      {(about === 'any' || about === 'events') && geofences.length > 0 && (
        <details open={subject.geofenceIds.length > 0}>
          <summary>Only at some geofences</summary>
          <PickMany
            name="geofenceIds"
            label="Geofences"
            hint="None chosen: everywhere."
            find={findIn(geofences)}
            wordsOf={(id) => new Map(geofences).get(id) ?? '(deleted)'}
            chosen={subject.geofenceIds}
            set={(geofenceIds) => set({ geofenceIds })}
          />
        </details>
      )}
      {whom.fields}
      <details open={before?.hours !== undefined}>
        <summary>Only at some hours</summary>
        <div class="stack near">
          <CheckGroup
            name="hours.days"
            label="Days"
            hint="None chosen: every day."
            class="row"
            options={DAYS.map((day, index) => [String(index + 1), day])}
            chosen={days}
            set={setDays}
          />
          <div class="tiles near">
            <Clock name="hours.from" label="From" value={before?.hours?.from} />
            <Clock name="hours.to" label="To" value={before?.hours?.to} />
          </div>
        </div>
      </details>
      <SelectField
        name="target.kind"
        label="Tell"
        options={[
          ...(before
            ? [['', `As before: ${isolate(receiverText(before.target))}`] as const]
            : kind === ''
              ? [['', 'Choose …'] as const]
              : []),
          ...Object.entries(KINDS).filter(([one]) => !isOfPositions || one === 'webhook'),
        ]}
        value={kind}
        onChange={(next) => setKind(next as ReceiverKind | '')}
      />
      {kind !== '' && <TargetFields kind={kind} />}
      <Field
        name="name"
        label="Name"
        hint="Leave it empty to name the notification after what it sends."
        maxLength={LONGEST_NAME}
        autoComplete="off"
        defaultValue={before?.name ?? ''}
      />
      <Field
        name="zone"
        label="Time zone"
        hint="For the hours, and for times in chats and mails."
        autoComplete="off"
        defaultValue={before?.zone ?? before?.hours?.zone ?? readerZone()}
      />
      <details open={isOfPositions || before?.maxAgeSeconds !== undefined}>
        <summary>More</summary>
        <div class="stack">
          <Field
            name="everySeconds"
            label="Seconds between two deliveries"
            hint="The minimum. Empty: as soon as something happens."
            inputMode="numeric"
            autoComplete="off"
            defaultValue={before?.everySeconds ? String(before.everySeconds) : ''}
          />
          <MaxAge of={before?.maxAgeSeconds} isNews={receiver !== 'webhook'} />
          {kind === 'webhook' && (
            <>
              <Field
                name="target.batch"
                label="Items in a request"
                hint="2 to 500. Empty: one."
                inputMode="numeric"
                autoComplete="off"
              />
              <Field
                name="target.headers"
                label="Headers"
                hint="One per line: Authorization: Bearer …"
              >
                {(attributes) => <textarea {...attributes} rows={2} spellcheck={false} />}
              </Field>
            </>
          )}
        </div>
      </details>
    </FormDialog>
  )
}

/** A time of day on the operator's clock. */
function Clock({ value, ...field }: { name: string; label: string; value: string | undefined }) {
  const shown = timeOfDayText(value === '24:00' ? '00:00' : (value ?? ''), clockHours.value)
  return (
    <Field
      {...field}
      autoComplete="off"
      spellcheck={false}
      placeholder="hh:mm"
      defaultValue={value === undefined ? '' : shown}
    />
  )
}

/**
 * Field for the maximum age of items; `isNews`: the receiver is a person, who only wants current
 * events.
 */
function MaxAge({ of: seconds, isNews }: { of: number | undefined; isNews: boolean }) {
  const { text, unit } = splitAge(seconds)
  const usual = isNews ? 'an hour' : 'nothing is omitted'
  return (
    <Field
      name="maxAgeSeconds"
      label="Skip items older than"
      hint={`Counted from when it was noticed: a late alarm is still sent. Empty: ${usual}.`}
    >
      {(attributes) => (
        <span class="with-unit">
          <input {...attributes} inputMode="numeric" autoComplete="off" defaultValue={text} />
          <Select
            name="maxAgeUnit"
            aria-label="Unit"
            options={Object.keys(AGE_UNITS).map((one) => [one, one])}
            value={unit}
          />
        </span>
      )}
    </Field>
  )
}

/** Offers a test, and shows a webhook's secret, only this once. */
function MadeNotification({ of: made, onClose }: { of: Made; onClose: () => void }) {
  const { id, name, secret } = made
  if (secret === undefined) {
    return (
      <Dialog title="Notification created" onClose={onClose}>
        <p>
          <Isolated class="strong">{name}</Isolated> is on. See whether it arrives:
        </p>
        <TryReceiver id={id} />
      </Dialog>
    )
  }
  return (
    <NewSecret title="Notification created" name={name} secret={secret} onClose={onClose}>
      <TryReceiver id={id} />
    </NewSecret>
  )
}

export function NewSecret({
  name,
  secret,
  ...dialog
}: Omit<Parameters<typeof KeepSecret>[0], 'notice' | 'text'> & { name: string; secret: string }) {
  const notice = (
    <>
      Copy the secret of <Isolated class="strong">{name}</Isolated> now: your program verifies
      signatures with it. It is shown only once.
    </>
  )
  return <KeepSecret {...dialog} what="signing secret" notice={notice} text={secret} />
}

function choices(all: readonly { readonly id: string; readonly name: string }[] = []): Choices {
  return all.map(({ id, name }) => [id, name] as const)
}

function dropNulls(fields: object): Partial<ApiSubscription> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
