import { useEffect, useRef, useState } from 'preact/hooks'
import { Plus, X } from 'lucide'
import { api } from '../../api/client.ts'
import { hasReported } from '../../core/listed-device.ts'
import { labelOf } from '../../core/live-device.ts'
import { nameOnLink } from '../../../schemas/access/share-names.ts'
import { Field } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { isolate, Isolated, UnseenName } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { Select } from '../../ui/choice-fields.tsx'
import { useDebounced } from '../../ui/pick.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import './device-picker.css'

export type Pickable = {
  readonly deviceId: string
  readonly name: string | null
  /** The time of its last known position, once read. */
  readonly lastAt?: string | undefined
  /** The device's name on the shared page. */
  readonly given?: string
}

const SHOWN = 6
/** A link shows at most this many devices. */
const MOST = 50
const TYPED_MS = 200

/** Lets the operator pick devices by name or id, and name them for the shared page. */
export function DevicePicker({
  chosen,
  choose,
}: {
  chosen: readonly Pickable[]
  choose: (devices: readonly Pickable[]) => void
}) {
  const [typed, setTyped] = useState('')
  const q = useDebounced(typed.trim(), TYPED_MS)
  const [label, setLabel] = useState('')
  const labels = useLoad((signal) => api.get('/labels', { signal }), [])
  const { data, failure } = useLoad(
    (signal) =>
      api.get('/devices', {
        query: { limit: MOST + chosen.length, ...(q && { q }), ...(label && { label: [label] }) },
        signal,
      }),
    [q, label, chosen.length],
  )
  const known = new Set(chosen.map(({ deviceId }) => deviceId))
  const others = (data?.items ?? [])
    .filter(hasReported)
    .filter(({ deviceId }) => !known.has(deviceId))
    .map(({ deviceId, name, lastPosition }): Pickable => ({
      deviceId,
      name,
      lastAt: lastPosition.timestamp,
    }))
  const found = others.slice(0, SHOWN)
  const canAddAll =
    label !== '' &&
    others.length > 1 &&
    data?.nextCursor === null &&
    chosen.length + others.length <= MOST

  function add(...devices: readonly Pickable[]) {
    choose([...chosen, ...devices])
    setTyped('')
  }

  const input = useRef<HTMLInputElement>(null)
  // The list may still belong to an earlier text.
  const [addsFirst, setAddsFirst] = useState(false)
  const isFound = data !== undefined && q === typed.trim()
  useEffect(() => {
    if (!addsFirst || !isFound) return
    setAddsFirst(false)
    if (found[0] !== undefined) add(found[0])
  }, [addsFirst, isFound])
  useKeys(
    { Enter: { label: 'Add the best match', run: () => setAddsFirst(true) } },
    { title: 'In the search', element: input },
  )

  return (
    <div class="device-picker stack near">
      <Field
        name="deviceIds"
        label="Devices"
        hint="1 to 50, found by name or id. The link shows their names, never their ids."
      >
        {(attributes) => (
          <input
            {...attributes}
            ref={input}
            type="search"
            placeholder="Name or id"
            autoComplete="off"
            spellcheck={false}
            maxLength={128}
            value={typed}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value)
              setAddsFirst(false)
            }}
          />
        )}
      </Field>
      {labels.data !== undefined && labels.data.items.length > 0 && (
        <div class="row">
          <Select
            aria-label="Label"
            options={[
              ['', 'All labels'],
              ...labels.data.items.map(({ label: one }) => [one, isolate(one)] as const),
            ]}
            value={label}
            onChange={setLabel}
          />
          {canAddAll && (
            <button type="button" onClick={() => add(...others)}>
              Add all {others.length}
            </button>
          )}
        </div>
      )}
      {failure !== undefined && <FailedLine failure={failure} />}
      <ul class="box" aria-label="Found devices">
        {found.map((device) => (
          <li key={device.deviceId}>
            <button type="button" class="plain" onClick={() => add(device)}>
              <Icon of={Plus} small />
              <span class="unseen">Add </span>
              <Isolated class="one-line">{labelOf(device)}</Isolated>
              {device.name !== null && (
                <Isolated class="one-line quiet">{device.deviceId}</Isolated>
              )}
            </button>
          </li>
        ))}
      </ul>
      {data !== undefined && found.length === 0 && (
        <p class="quiet">{q === '' ? 'There is no other device.' : 'No other device matches.'}</p>
      )}
      <ul class="chosen stack near" aria-label="Chosen devices">
        {chosen.map((device, index) => (
          <li key={device.deviceId}>
            <Isolated class="one-line">{labelOf(device)}</Isolated>
            <label>
              <span class="unseen">
                <Isolated>{labelOf(device)}</Isolated> is shown as
              </span>
              <input
                placeholder={nameOnLink({ given: undefined, own: device.name }, index)}
                autoComplete="off"
                maxLength={128}
                value={device.given ?? ''}
                onInput={({ currentTarget: { value: given } }) =>
                  choose(chosen.map((one) => (one === device ? { ...one, given } : one)))
                }
              />
            </label>
            <button
              type="button"
              class="plain"
              onClick={() => choose(chosen.filter((one) => one !== device))}
            >
              <Icon of={X} small />
              <span class="unseen">Remove</span>
              <UnseenName>{labelOf(device)}</UnseenName>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
