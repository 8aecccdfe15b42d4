import { useState } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { countByLabel } from '../../core/choose-devices.ts'
import { fieldFailure } from '../../core/failure.ts'
import {
  splitIntoChunks,
  labelChanges,
  undoLabels,
  type ChosenLabels,
  type LabelChoice,
  type Labelled,
} from '../../core/label-changes.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { formatCount } from '../../ui/shown.ts'
import { toast } from '../../ui/announcements.tsx'
import './labels.css'
import { may } from '../../live/session.ts'

/** Opens the labels of a device; absent without the right to change them. */
export function LabelButton({
  device,
  onDone = () => undefined,
}: {
  device: Labelled
  onDone?: () => void
}) {
  const { dialog, open } = useDialog(onDone)
  if (!may('devices.edit')) return null
  return (
    <>
      <button
        type="button"
        onClick={() => open((props) => <LabelDevices devices={[device]} {...props} />)}
      >
        Label
      </button>
      {dialog}
    </>
  )
}

/** The maximum number of devices in one call. */
const CALL_DEVICES = 1_000

/** Adds labels to one or several devices, and removes them. */
export function LabelDevices({
  devices,
  onDone,
  onClose,
}: DialogProps & { devices: readonly Labelled[] }) {
  const [choices, setChoices] = useState<ReadonlyMap<string, LabelChoice>>(new Map())
  const [typed, setTyped] = useState('')
  const had = countByLabel(fleet.devices.values())
  const count = (label: string) => devices.filter(({ labels }) => labels.includes(label)).length
  const known = [...new Set([...had.keys(), ...devices.flatMap(({ labels }) => labels)])]
  const added = [...choices.keys()].filter((label) => !known.includes(label))

  function choose(label: string, choice: LabelChoice): void {
    setChoices(new Map([...choices, [label, choice]]))
  }

  function add(): void {
    if (typed.trim() === '') return
    choose(typed.trim(), 'all')
    setTyped('')
  }

  async function save(): Promise<void> {
    const wanted = new Map(choices)
    if (typed.trim() !== '') wanted.set(typed.trim(), 'all')
    const before = devices.map(({ deviceId, labels }) => ({ deviceId, labels }))
    const change = labelChanges(before, wanted)
    if (change.add.length + change.remove.length === 0) return
    const changed = await changeLabels(
      before.map(({ deviceId }) => deviceId),
      change,
    )
    const refused = devices.length - changed.size
    if (refused > 0 && devices.length === 1) {
      throw fieldFailure('label', 'A device can have at most 16 labels. Remove one first.')
    }
    const rest =
      refused === 0 ? '' : `; ${refused} of them already have 16 labels, or no longer exist`
    const undos = undoLabels(
      before.filter(({ deviceId }) => changed.has(deviceId)),
      change,
    )
    const undo = async () => {
      for (const { deviceIds, ...back } of undos) await changeLabels(deviceIds, back)
      onDone()
    }
    toast(
      `${devices.length === 1 ? 'Labels' : formatCount(devices.length, 'device')} saved${rest}`,
      {
        undo: undos.length > 0 ? undo : undefined,
      },
    )
  }

  return (
    <FormDialog
      title={devices.length === 1 ? 'Labels' : `Labels of ${formatCount(devices.length, 'device')}`}
      button="Save"
      submit={async () => {
        await save()
        onClose()
      }}
      onDone={onDone}
      onClose={onClose}
    >
      <div class="label-choices stack near" role="group" aria-label="Labels">
        {[...known, ...added].map((label) => {
          const has = count(label)
          const choice = choices.get(label)
          const isOn = choice === undefined ? has === devices.length : choice === 'all'
          return (
            <label key={label} class="row">
              <input
                type="checkbox"
                checked={isOn}
                indeterminate={choice === undefined && has > 0 && has < devices.length}
                onChange={({ currentTarget }) =>
                  choose(label, currentTarget.checked ? 'all' : 'none')
                }
              />
              <Isolated class="one-line">{label}</Isolated>
            </label>
          )
        })}
      </div>
      <Field name="label" label="New label" hint="1 to 64 characters; a device has at most 16.">
        {(attributes) => (
          <div class="row label-add">
            <input
              {...attributes}
              autoComplete="off"
              maxLength={64}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
            <button type="button" disabled={typed.trim() === ''} onClick={add}>
              Add
            </button>
          </div>
        )}
      </Field>
    </FormDialog>
  )
}

/**
 * Resolves with the ids of the changed devices: without devices that do not exist or would have too
 * many labels.
 */
async function changeLabels(
  devices: readonly string[],
  change: ChosenLabels,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  for (const deviceIds of splitIntoChunks(devices, CALL_DEVICES)) {
    const { results } = await api.post('/devices/labels', { body: { deviceIds, ...change } })
    for (const result of results) {
      if (!('labels' in result)) continue
      changed.add(result.deviceId)
      fleet.changed(result.deviceId, { labels: result.labels }, serverNow())
    }
  }
  markChanged()
  return changed
}
