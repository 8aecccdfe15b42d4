import { useState } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { ApiFailure } from '../../core/failure.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { fleet } from '../../live/live.ts'
import { watchWords, markChanged } from '../../live/announce-changes.ts'
import { may } from '../../live/session.ts'
import { Field } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { changeDraft, draft, nameDevice } from './draft.ts'
import { idFor } from './id-for.ts'

/** Asks for a display name; the id is derived from it, unless the operator wants another. */
export function NameDevice({
  arrivesAs,
  onChange,
}: {
  /** The id that the device reports with. */
  arrivesAs: string
  onChange: () => void
}) {
  const { name, deviceId } = draft.value
  const [isChanging, setChanging] = useState(false)
  const hasOwnId = isChanging || deviceId !== idFor(name)

  function input(set: (text: string) => void) {
    return ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      set(currentTarget.value)
      onChange()
    }
  }

  return (
    <>
      <Field
        name="name"
        label="What is it called?"
        hint="Such as “Anna’s phone” or “Van 7”."
        value={name}
        maxLength={100}
        autoComplete="off"
        onInput={input(nameDevice)}
      />
      {hasOwnId && (
        <Field name="deviceId" label="Device id" hint="A unique id, up to 128 characters.">
          {(attributes) => (
            <input
              {...attributes}
              value={deviceId}
              maxLength={128}
              spellcheck={false}
              autoComplete="off"
              ref={isChanging ? focus : null}
              onInput={input((id) => changeDraft({ deviceId: id, namedSince: undefined }))}
            />
          )}
        </Field>
      )}
      {arrivesAs !== '' && (
        <p class="row quiet">
          <span>
            Reports as <Isolated class="strong">{arrivesAs}</Isolated>
            {!hasOwnId && ' ·'}
          </span>
          {!hasOwnId && (
            <button
              type="button"
              class="small plain"
              aria-label="Change the device id"
              onClick={() => setChanging(true)}
            >
              Change
            </button>
          )}
        </p>
      )}
      <KnownId deviceId={arrivesAs} />
    </>
  )
}

function focus(input: HTMLInputElement | null): void {
  input?.focus()
}

/** Two phones with one id would be one device. */
function KnownId({ deviceId }: { deviceId: string }) {
  watchWords()
  const known = fleet.devices.get(deviceId)
  if (known === undefined || known.firstSeenAt >= draft.value.since) return null
  return (
    <p class="quiet">
      A device reports with this id already. For another device, choose another id or name.
    </p>
  )
}

const TRIES = 20
const RETRY_MS = 500

/**
 * Gives a device that has arrived the name of the draft, unless it has a name; once in its life, so
 * that a name removed later stays removed.
 */
export function useGivenName(
  name: string,
  arrived: { readonly deviceId: string; readonly firstSeenAt: string } | undefined,
): ApiFailure | undefined {
  const { failure } = useLoad(
    async (signal) => {
      if (arrived === undefined || name === '' || !may('devices.edit')) return
      const path = { deviceId: arrived.deviceId }
      const device = await storedDevice(path, signal)
      if (device.firstSeenAt === draft.value.namedSince) return
      if (device.name === null) {
        const { name: given } = await api.patch('/devices/{deviceId}', { path, body: { name } })
        fleet.status({ ...device, name: given }, serverNow())
        markChanged()
      }
      changeDraft({ namedSince: device.firstSeenAt })
    },
    [name, arrived?.deviceId, arrived?.firstSeenAt],
  )
  return failure
}

/** The stream gets a report a moment before the store does. */
async function storedDevice(
  path: { readonly deviceId: string },
  signal: AbortSignal,
): Promise<ApiDevice> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await api.get('/devices/{deviceId}', { path, signal })
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 404 || left === 0) throw thrown
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
