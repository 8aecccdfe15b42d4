import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { TriangleAlert } from 'lucide'
import { nameOnLink, titleOfDevices } from '../../../schemas/access/share-names.ts'
import { api, serverNow } from '../../api/client.ts'
import { fieldFailure } from '../../core/failure.ts'
import { fromInput, toInput } from '../../core/times.ts'
import { fleet } from '../../live/live.ts'
import { now } from '../../ui/clock.ts'
import { Field, type Values } from '../../ui/form.tsx'
import { MomentInput } from '../../ui/moment-input.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { KeepSecret } from '../../ui/secret.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { pageAddress } from '../../ui/router.ts'
import { SelectField } from '../../ui/choice-fields.tsx'
import { formatMoment } from '../../ui/shown.ts'
import { useLoad } from '../../ui/use-load.ts'
import { DevicePicker, type Pickable } from './device-picker.tsx'
import { SharePreview } from './share-preview.tsx'
import { addressOf, isLocalHost } from '../../core/address.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a link lasts, in milliseconds; the first is the default. */
const LASTS = [
  [String(2 * HOUR_MS), '2 hours'],
  [String(8 * HOUR_MS), '8 hours'],
  [String(DAY_MS), '1 day'],
  [String(7 * DAY_MS), '1 week'],
  ['', 'Until a time …'],
] as const

const TRAILS = [
  ['0', 'None'],
  ['15', 'The last 15 minutes'],
  ['60', 'The last hour'],
  ['480', 'The last 8 hours'],
  ['1440', 'The last day'],
] as const

/** Creates a link and shows it, only this once. */
export function NewShare(props: DialogProps) {
  const zone = readerZone()
  const [link, setLink] = useState<string>()
  const [chosen, setChosen] = useAskedDevices()
  const [name, setName] = useState('')
  const [end, setEnd] = useState(() => toInput(serverNow() + DAY_MS, zone))
  const [lasts, setLasts] = useState<string>(LASTS[0][0])
  const [trailMinutes, setTrailMinutes] = useState<string>(TRAILS[0][0])
  const [showsNow, setShowsNow] = useState(true)
  const [showsStreets, setShowsStreets] = useState(false)
  const { data: service } = useLoad((signal) => api.get('/console', { signal }), [])
  const { origin, hostname } = new URL(service?.consoleUrl ?? location.origin)
  const streets = service?.maps.find(({ seenBy }) => seenBy !== null)
  const until = lasts === '' ? fromInput(end, zone) : now.value + Number(lasts)
  const givenName = (device: Pickable) => device.given?.trim() || undefined
  const names = chosen.map((device, index) =>
    nameOnLink({ given: givenName(device), own: device.name }, index),
  )
  const title = name.trim() || titleOfDevices(names)

  async function create({ deviceIds: typed = '' }: Values) {
    // Otherwise the link would lack a device that its creator has just typed.
    if (typed.trim() !== '') {
      throw fieldFailure('deviceIds', 'Add a device that the search found, or clear the search.')
    }
    if (chosen.length === 0) throw fieldFailure('deviceIds', 'Choose at least one device.')
    if (until === undefined) throw fieldFailure('expiresAt', 'Enter a date and a time.')
    const given = chosen.flatMap((device) => {
      const text = givenName(device)
      return text === undefined ? [] : [[device.deviceId, text] as const]
    })
    const body = {
      ...(name.trim() !== '' && { name: name.trim() }),
      deviceIds: chosen.map(({ deviceId }) => deviceId),
      ...(given.length > 0 && { names: Object.fromEntries(given) }),
      // Counted from the click, regardless of how long the dialog was open.
      expiresAt: new Date(lasts === '' ? until : serverNow() + Number(lasts)).toISOString(),
      trailMinutes: Number(trailMinutes),
      showsNow,
      showsStreets,
    }
    const { token } = await api.post('/shares', { body })
    setLink(`${origin}${addressOf('/share')}#${token}`)
  }

  if (link !== undefined) {
    return (
      <KeepSecret
        title="Link created"
        notice="Copy it now. It is shown only once, and works for anyone who has it."
        text={link}
        what="Link"
        onClose={props.onClose}
      >
        {isLocalHost(hostname) && <LocalAddress origin={origin} />}
      </KeepSecret>
    )
  }
  return (
    <FormDialog {...props} title="New link" button="Create link" submit={create}>
      <DevicePicker chosen={chosen} choose={setChosen} />
      <Field
        name="name"
        label="Name"
        hint="The heading of the page that the link opens."
        autoFocus
        placeholder={titleOfDevices(names)}
        autoComplete="off"
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <div class="tiles">
        <SelectField
          name="lasts"
          label="Lasts"
          hint={
            lasts === '' || until === undefined
              ? undefined
              : `It ends ${formatMoment(until)} in ${zone}.`
          }
          options={LASTS}
          value={lasts}
          onChange={setLasts}
        />
        {lasts === '' && (
          <Field
            name="expiresAt"
            label="Expires"
            hint={
              until === undefined
                ? `At most 30 days from now, in ${zone}.`
                : `It ends ${formatMoment(until)} in ${zone}. At most 30 days from now.`
            }
          >
            {(attributes) => (
              <MomentInput {...attributes} label="Expires" value={end} onChange={setEnd} />
            )}
          </Field>
        )}
        <SelectField
          name="trailMinutes"
          label="Trail"
          hint="Where they came from, starting with the link: nothing from before is shown."
          options={TRAILS}
          value={trailMinutes}
          onChange={setTrailMinutes}
        />
      </div>
      <div class="stack tight">
        <Tick label="Also where it is now" isOn={showsNow} set={setShowsNow}>
          One last known position, without a trail. Otherwise the link is empty until the next
          report.
        </Tick>
        {streets !== undefined && (
          <Tick label="Streets on the map of the link" isOn={showsStreets} set={setShowsStreets}>
            {streets.seenBy} then sees which area its viewers look at.
          </Tick>
        )}
      </div>
      <SharePreview
        title={title}
        devices={chosen.map(({ deviceId, lastAt }, index) => ({
          name: names[index] ?? '',
          lastAt: fleet.devices.get(deviceId)?.position.timestamp ?? lastAt,
        }))}
        showsNow={showsNow}
        until={until}
        trail={
          trailMinutes === '0' ? undefined : TRAILS.find(([value]) => value === trailMinutes)?.[1]
        }
      />
    </FormDialog>
  )
}

/** A link that starts like this opens nothing on a phone. */
function LocalAddress({ origin }: { origin: string }) {
  return (
    <div class="notice warn row">
      <Icon of={TriangleAlert} />
      <p>
        <code>{origin}</code> can be reached only from this computer, so this link opens nothing on
        a phone. Start the service with <code>npm start -- --lan</code>, or set{' '}
        <code>CONSOLE_PUBLIC_URL</code> to the address that others use.
      </p>
    </div>
  )
}

function Tick({
  label,
  isOn,
  set,
  children,
}: {
  label: string
  isOn: boolean
  set: (isOn: boolean) => void
  children: ComponentChildren
}) {
  const hint = useId()
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={hint}
          checked={isOn}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
        {label}
      </label>
      <p id={hint} class="note">
        {children}
      </p>
    </div>
  )
}

/** The devices named in the address, with their usual names. */
function useAskedDevices() {
  const state = useState<readonly Pickable[]>(() =>
    pageAddress
      .peek()
      .query.getAll('device')
      .map((deviceId) => ({ deviceId, name: fleet.devices.get(deviceId)?.name ?? null })),
  )
  const [asked, setChosen] = state
  useEffect(() => {
    const closing = new AbortController()
    const { signal } = closing
    const unknown = asked.filter(({ deviceId }) => !fleet.devices.has(deviceId))
    async function readNames() {
      for (const { deviceId } of unknown) {
        const { name, lastPosition } = await api.get('/devices/{deviceId}', {
          path: { deviceId },
          signal,
        })
        const lastAt = lastPosition.timestamp
        setChosen((chosen) =>
          chosen.map((one) => (one.deviceId === deviceId ? { ...one, name, lastAt } : one)),
        )
      }
    }
    // A device that does not exist is rejected when the link is created.
    readNames().catch(() => undefined)
    return () => closing.abort()
  }, [])
  return state
}
