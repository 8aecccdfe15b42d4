import { useEffect, useState } from 'preact/hooks'
import { CircleCheck, CircleX, Hourglass } from 'lucide'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { sentence, type ApiFailure } from '../../core/failure.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, lister, onStreamEvent, startLive } from '../../live/live.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { changeDraft } from './draft.ts'
import { useGivenName } from './name-device.tsx'
import {
  adviceFor,
  outcomeOf,
  type ConnectOutcome,
  type RecentReports,
  type TestAnswer,
} from './outcome.ts'

/** Whether the device has reported, or why its reports were rejected. */
export function Arrival({
  deviceId,
  name,
  keyId,
  since,
  answer,
}: {
  deviceId: string
  /** The device's display name; may be empty. */
  name: string
  keyId: string | undefined
  since: string
  answer: TestAnswer | undefined
}) {
  const { seen, failure } = useArrival(deviceId, keyId)
  const outcome = outcomeOf({ deviceId, since, seen, answer })
  const naming = useGivenName(
    name,
    outcome.kind === 'arrived' && !outcome.isOther ? outcome.device : undefined,
  )
  return (
    <section class={`arrival stack near ${outcome.kind}`} aria-label="Arrival" aria-live="polite">
      <OutcomeText outcome={outcome} deviceId={deviceId} name={name} />
      {[failure, naming].map(
        (one, index) => one !== undefined && <FailedLine key={index} failure={one} />,
      )}
    </section>
  )
}

function OutcomeText({
  outcome,
  deviceId,
  name,
}: {
  outcome: ConnectOutcome
  deviceId: string
  name: string
}) {
  switch (outcome.kind) {
    case 'waiting':
      return (
        <p>
          <Icon of={Hourglass} />
          <span>
            Waiting for the first report of <Isolated class="strong">{name || deviceId}</Isolated>.
          </span>
        </p>
      )
    case 'accepted':
      return (
        <p>
          <Icon of={Hourglass} />
          <span>Accepted. It is on its way to the map.</span>
        </p>
      )
    case 'arrived':
      return <Arrived {...outcome} deviceId={deviceId} name={name} />
    case 'refused':
      return <Refused {...outcome} deviceId={deviceId} />
  }
}

function Arrived({
  device,
  isOther,
  deviceId,
  name,
}: Extract<ConnectOutcome, { kind: 'arrived' }> & { deviceId: string; name: string }) {
  return (
    <>
      <p>
        <Icon of={CircleCheck} />
        <span>
          <Isolated class="strong">
            {device.name ?? ((!isOther && name) || device.deviceId)}
          </Isolated>{' '}
          has arrived, <Ago at={device.lastSeenAt} />.
        </span>
      </p>
      {isOther && (
        <p>
          It is new, and not <Isolated class="strong">{deviceId}</Isolated>. Is it yours?{' '}
          <UseThisId deviceId={device.deviceId} />
        </p>
      )}
      <p>
        <a class="button" href={addressOf(`/?device=${encodeURIComponent(device.deviceId)}`)}>
          Show on map
        </a>
      </p>
    </>
  )
}

function UseThisId({ deviceId }: { deviceId: string }) {
  return (
    <button type="button" class="small" onClick={() => changeDraft({ deviceId })}>
      Yes, that is its id
    </button>
  )
}

function Refused({
  at,
  error,
  message,
  body,
  sentAs,
  deviceId: wanted,
}: Extract<ConnectOutcome, { kind: 'refused' }> & { deviceId: string }) {
  return (
    <>
      <p>
        <Icon of={CircleX} />
        <span>
          Rejected <Ago at={at} />: <code>{error}</code>{' '}
          <Isolated class="strong">{sentence(message)}</Isolated>
        </span>
      </p>
      {sentAs !== undefined && sentAs !== wanted ? (
        <p>
          It calls itself <Isolated class="strong">{sentAs}</Isolated>. Is it yours?{' '}
          <UseThisId deviceId={sentAs} />
        </p>
      ) : (
        <p>{adviceFor(error)}</p>
      )}
      {body !== undefined && (
        <details>
          <summary>What was sent</summary>
          <pre>
            <Isolated>{body}</Isolated>
          </pre>
        </details>
      )}
      <p>
        <a href={addressOf(`/rejections?deviceId=${encodeURIComponent(wanted)}`)}>
          All rejections of this device
        </a>
      </p>
    </>
  )
}

type Rejection = RecentReports['rejections'][number] & { readonly keyId?: string | undefined }

/** Follows the stream and the lists for reports of a device and refusals of a key. */
function useArrival(
  deviceId: string,
  keyId: string | undefined,
): { readonly seen: RecentReports; readonly failure: ApiFailure | undefined } {
  const [latest, setLatest] = useState<Rejection>()
  watchWords()
  const { data, failure, reload } = useLoad(
    async (signal) => {
      if (keyId === undefined && deviceId === '') return []
      const query = { limit: 1, ...(keyId === undefined ? { deviceId } : { keyId }) }
      return (await api.get('/rejections', { query, signal })).items
    },
    [deviceId, keyId],
  )
  useEffect(() => {
    setLatest(undefined)
    startLive()
    return onStreamEvent((name, value) => {
      if (name === 'opened') return reload()
      const rejection = value as Rejection
      const isWanted =
        keyId === undefined ? rejection.deviceId === deviceId : rejection.keyId === keyId
      if (name === 'rejection' && isWanted) setLatest(rejection)
    })
  }, [deviceId, keyId])
  const rejections = [...(latest === undefined ? [] : [latest]), ...(data ?? [])]
  return {
    seen: { devices: readRecentDevices(deviceId), rejections },
    failure: failure ?? lister.failure.value,
  }
}

/** The device itself, and the newest of the other devices. */
function readRecentDevices(deviceId: string): RecentReports['devices'] {
  let newest: LiveDevice | undefined
  for (const device of fleet.devices.values()) {
    if (device.deviceId === deviceId) continue
    if (newest === undefined || device.firstSeenAt > newest.firstSeenAt) newest = device
  }
  return [fleet.devices.get(deviceId), newest]
    .filter((device) => device !== undefined)
    .map((device) => ({ ...device, lastSeenAt: new Date(device.lastSeenMs).toISOString() }))
}
