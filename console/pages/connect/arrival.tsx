import { CircleCheck, CircleX, Hourglass } from 'lucide'
import { sentence } from '../../core/failure.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { changeDraft } from './draft.ts'
import { adviceFor, outcomeOf, type ConnectOutcome, type TestAnswer } from './outcome.ts'
import { useArrival } from './use-arrival.ts'
import { addressOf } from '../../core/address.ts'

/** Whether the device has reported, or why its reports were refused. */
export function Arrival({
  deviceId,
  keyId,
  since,
  answer,
}: {
  deviceId: string
  keyId: string | undefined
  since: string
  answer: TestAnswer | undefined
}) {
  const { seen, failure } = useArrival(deviceId, keyId)
  const outcome = outcomeOf({ deviceId, since, seen, answer })
  return (
    <section class={`arrival stack near ${outcome.kind}`} aria-label="Arrival" aria-live="polite">
      <Told outcome={outcome} deviceId={deviceId} />
      {failure !== undefined && <FailedLine failure={failure} />}
    </section>
  )
}

function Told({ outcome, deviceId }: { outcome: ConnectOutcome; deviceId: string }) {
  switch (outcome.kind) {
    case 'waiting':
      return (
        <p>
          <Icon of={Hourglass} />
          <span>
            Waiting for the first report
            {deviceId !== '' && (
              <>
                {' '}
                of <Isolated class="strong">{deviceId}</Isolated>
              </>
            )}
            .
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
      return <Arrived {...outcome} deviceId={deviceId} />
    case 'refused':
      return <Refused {...outcome} deviceId={deviceId} />
  }
}

function Arrived({
  device,
  isOther,
  deviceId,
}: Extract<ConnectOutcome, { kind: 'arrived' }> & { deviceId: string }) {
  return (
    <>
      <p>
        <Icon of={CircleCheck} />
        <span>
          <Isolated class="strong">{device.deviceId}</Isolated> has arrived,{' '}
          <Ago at={device.lastSeenAt} />.
        </span>
      </p>
      {isOther && (
        <p>
          It is new, and not <Isolated class="strong">{deviceId}</Isolated>. Is it yours?{' '}
          <ItsId deviceId={device.deviceId} />
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

function ItsId({ deviceId }: { deviceId: string }) {
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
          <ItsId deviceId={sentAs} />
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
