import { useState } from 'preact/hooks'
import { KNOWN_ATTRIBUTES } from '../../../schemas/report/known-attributes.ts'
import { api } from '../../api/client.ts'
import { MEASURED_FIELDS } from '../../core/readings.ts'
import {
  COMPARISONS,
  draftOf,
  enteredUnit,
  forSecondsOf,
  newDraft,
  PRESETS,
  parseWhenDraft,
  type Preset,
  type RuleDraft,
} from '../../core/rule-draft.ts'
import { ruleText, type ApiRule, type GeofenceNames } from '../../core/rule-words.ts'
import { changeSaver } from '../../core/save-change.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { SelectField } from '../../ui/choice-fields.tsx'
import { toastOthers } from '../../ui/others-changed.ts'
import { findIn, PickMany } from '../../ui/pick.tsx'
import { readerUnits } from '../../ui/shown.ts'
import { useGeofenceNames } from '../geofences/use-definitions.ts'
import { useWhom } from '../geofences/whom.tsx'

const LONGEST_NAME = 64
const PROPOSED = [...MEASURED_FIELDS, ...Object.keys(KNOWN_ATTRIBUTES)]

/** Form for a new or existing rule, with conditions in plain words. */
export function RuleForm({ of: rule, ...props }: DialogProps & { of: ApiRule | undefined }) {
  const known = useGeofenceNames().data ?? []
  const geofences: GeofenceNames = new Map(known.map(({ id, name }) => [id, name]))
  const units = readerUnits()
  const whom = useWhom(rule ?? {})
  const [draft, setDraft] = useState(() => (rule ? draftOf(rule, units) : newDraft('speed')))
  const [within, setWithin] = useState<readonly string[]>(rule?.geofenceIds ?? [])
  const set = (change: Partial<RuleDraft>) => setDraft({ ...draft, ...change })
  const options = [...geofences].map(([id, name]) => [id, isolate(name)] as const)

  const [save] = useState(
    () =>
      rule &&
      changeSaver<ApiRule>(rule, {
        send: (body) => api.patch('/rules/{id}', { path: { id: rule.id }, body: body }),
        read: () => api.get('/rules/{id}', { path: { id: rule.id } }),
      }),
  )

  async function submit({ name = '' }: Values) {
    const content = { when: parseWhenDraft(draft, units), forSeconds: forSecondsOf(draft) }
    const usual = ruleText(content, geofences, units).slice(0, LONGEST_NAME)
    const body = {
      name: name.trim() || usual,
      ...content,
      ...whom.read(),
      geofenceIds: within.length > 0 ? within : null,
    }
    if (save === undefined) await api.post('/rules', { body: body as never })
    else toastOthers((await save(body)).others)
  }

  return (
    <FormDialog
      {...props}
      title={rule === undefined ? 'New rule' : 'Change rule'}
      button="Save"
      submit={submit}
      done={rule === undefined ? 'Rule created.' : 'Rule changed.'}
    >
      <SelectField
        name="preset"
        label="When"
        options={Object.entries(PRESETS)}
        value={draft.preset}
        onChange={(preset) => setDraft({ ...newDraft(preset as Preset), minutes: draft.minutes })}
      />
      <Condition draft={draft} set={set} geofences={options} />
      <TextField
        name="forSeconds"
        label="For longer than, minutes"
        hint={draft.preset === 'silent' ? undefined : 'Empty: from the first report on.'}
        value={draft.minutes}
        set={(minutes) => set({ minutes })}
      />
      <Field
        name="name"
        label="Name"
        hint="Events and lists show it. Empty: the condition in words."
        maxLength={LONGEST_NAME}
        autoComplete="off"
        defaultValue={rule?.name ?? ''}
      />
      {whom.fields}
      {options.length > 0 && (
        <details open={within.length > 0}>
          <summary>Only in some geofences</summary>
          <PickMany
            name="geofenceIds"
            label="Geofences"
            hint="None chosen: everywhere."
            find={findIn(known.map(({ id, name }) => [id, name] as const))}
            wordsOf={(id) => geofences.get(id) ?? '(deleted)'}
            chosen={within}
            set={setWithin}
          />
        </details>
      )}
    </FormDialog>
  )
}

/** The fields of the chosen condition. */
function Condition({
  draft,
  set,
  geofences,
}: {
  draft: RuleDraft
  set: (change: Partial<RuleDraft>) => void
  geofences: readonly (readonly [id: string, name: string])[]
}) {
  const { preset, field, comparison, value, clear, geofenceId } = draft
  if (preset === 'inside' || preset === 'outside') {
    return (
      <SelectField
        name="geofenceId"
        label="Geofence"
        hint={geofences.length === 0 ? 'There is no geofence yet: draw one first.' : undefined}
        options={[['', 'Choose one'], ...geofences]}
        value={geofenceId}
        onChange={(id) => set({ geofenceId: id })}
      />
    )
  }
  if (preset === 'silent' || preset === 'stopped' || preset === 'ignition') return null
  const unit = enteredUnit(field, readerUnits())
  const addUnit = (words: string) => (unit === undefined ? words : `${words}, ${unit}`)
  return (
    <>
      {preset === 'other' && (
        <div class="tiles near">
          <Field name="when.field" label="Value of" hint="As devices report it.">
            {(attributes) => (
              <>
                <input
                  {...attributes}
                  list="rule-fields"
                  autoComplete="off"
                  spellcheck={false}
                  value={field}
                  onInput={({ currentTarget }) => set({ field: currentTarget.value })}
                />
                <datalist id="rule-fields">
                  {PROPOSED.map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <SelectField
            name="comparison"
            label="Comparison"
            options={Object.entries(COMPARISONS)}
            value={comparison}
            onChange={(next) => set({ comparison: next as RuleDraft['comparison'] })}
          />
        </div>
      )}
      <div class="tiles near">
        <TextField
          name="when"
          label={comparison === 'is' ? 'Value' : addUnit('Limit')}
          hint={comparison === 'is' ? 'true, false, or a text.' : undefined}
          value={value}
          set={(next) => set({ value: next })}
        />
        {comparison !== 'is' && (
          <TextField
            name="when.clear"
            label={addUnit('Ends at')}
            hint="Empty: at the limit."
            value={clear}
            set={(next) => set({ clear: next })}
          />
        )}
      </div>
    </>
  )
}

function TextField({
  value,
  set,
  ...field
}: {
  name: string
  label: string
  hint: string | undefined
  value: string
  set: (value: string) => void
}) {
  return (
    <Field
      {...field}
      autoComplete="off"
      value={value}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  )
}
