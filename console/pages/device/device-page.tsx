import './device-page.css'
import './device-sheet.css'
import { useEffect, useMemo } from 'preact/hooks'
import { ArrowLeft, MapPinOff } from 'lucide'
import { api } from '../../api/client.ts'
import { may } from '../../live/session.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, onStreamEvent, startLive } from '../../live/live.ts'
import { now } from '../../ui/clock.ts'
import { connectionText, motionText } from '../../core/device-words.ts'
import { parseSpan } from '../../core/span.ts'
import { Icon } from '../../ui/icon.tsx'
import { ShareLink, Labels, StatusShape } from '../../ui/device-parts.tsx'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { arriveAt, Page, useTitle } from '../../ui/page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { mapPath, pageAddress } from '../../ui/router.ts'
import { Empty, Failed, Loading, Loaded } from '../../ui/states.tsx'
import { date } from '../../core/times.ts'
import { useLoad } from '../../ui/use-load.ts'
import { DayPicker } from './day-picker.tsx'
import { useDayTotalsStore } from './device-days.ts'
import { DeviceKey, useKeyOf } from './device-key.tsx'
import { LabelButton } from './labels.tsx'
import { LastPositionCard } from './position-cards.tsx'
import { SettingsMenu } from './settings-menu.tsx'
import { Silence } from './silence.tsx'
import { StandingList } from './standing-list.tsx'
import { TrackView } from './track-view.tsx'
import { useClockError, WrongClock } from './wrong-clock.tsx'
import { addressOf } from '../../core/address.ts'
import { Ago } from '../../ui/time.tsx'

/** Refresh interval: settings and key may be changed elsewhere. */
const AGAIN = { everyMs: 30_000 }

/** The page of a device: position, tracks, settings. */
export function DevicePage({ deviceId }: { deviceId: string }) {
  useEffect(startLive, [])
  watchWords()
  const { data, failure, reload } = useLoad(
    (signal) => api.get('/devices/{deviceId}', { path: { deviceId }, signal }),
    [deviceId],
    AGAIN,
  )
  const key = useKeyOf(data, AGAIN)
  useEffect(
    () =>
      onStreamEvent((name, event) => {
        // Another operator has erased the device: the page's content no longer exists.
        const isThis = (event as { deviceId?: unknown }).deviceId === deviceId
        if (name === 'device-erased' && isThis) reload()
        if (name === 'fact' && isThis) reload()
      }),
    [deviceId],
  )
  useTitle(isolate(data?.name ?? deviceId))
  const live = fleet.devices.get(deviceId)
  const zone = readerZone()
  const today = date(now.value, zone)
  const asked = parseSpan(pageAddress.value.query, today)
  const totals = useDayTotalsStore(deviceId, zone)
  const span = useMemo(() => asked, [asked.first, asked.last])

  const position = live?.position ?? data?.lastPosition
  const lastSeenMs = live?.lastSeenMs ?? (data && Date.parse(data.lastSeenAt))
  const clock = useClockError(
    deviceId,
    position && lastSeenMs !== undefined ? { lastSeenMs, position } : undefined,
  )

  if (failure?.status === 404) return <NoDevice deviceId={deviceId} />
  if (data === undefined || position === undefined || lastSeenMs === undefined) {
    return failure === undefined ? <Loading /> : <Failed failure={failure} onRetry={reload} />
  }
  const status = live?.status ?? (data.disabled ? 'disabled' : data.status)
  const motion = live && motionText(live, now.value)
  return (
    <div class="device-page">
      <header class="device-header row">
        <a class="button" href={addressOf(mapPath(deviceId))} aria-label="To the map">
          <Icon of={ArrowLeft} small />
        </a>
        <div class="device-title">
          <h1 ref={arriveAt} class="two-lines" tabIndex={-1}>
            <Isolated>{data.name ?? deviceId}</Isolated>
          </h1>
          <p class="quiet">
            <StatusShape status={status} /> {connectionText({ status, lastSeenMs }, now.value)}
            {motion !== undefined && ` · ${motion}`}
            {data.name !== null && (
              <>
                {' · '}
                <Isolated>{deviceId}</Isolated>
              </>
            )}
          </p>
        </div>
        <StandingList of={data} />
        <Labels of={data.labels} />
        <LabelButton device={data} onDone={reload} />
        {may('shares.edit') && <ShareLink deviceId={deviceId} />}
        {may('devices.edit') && <SettingsMenu device={data} onChange={reload} />}
        <DayPicker deviceId={deviceId} span={span} today={today} zone={zone} totals={totals} />
      </header>
      <TrackView
        deviceId={deviceId}
        span={span}
        today={today}
        zone={zone}
        totals={totals}
        status={status}
        silence={
          status === 'online' ? (
            clock && <WrongClock of={clock} />
          ) : span.last < date(lastSeenMs, zone) ? undefined : (
            <Silence
              key={deviceId}
              deviceId={deviceId}
              device={data}
              live={live}
              status={status}
              usedKey={key.data}
              clock={clock}
              onChange={reload}
            />
          )
        }
        now={
          <LastPositionCard
            position={position}
            zone={zone}
            telemetry={live === undefined ? data.telemetry : live.telemetry}
          />
        }
      >
        <DeviceKey device={data} of={key} onChange={reload} />
        <RecentRejections deviceId={deviceId} />
      </TrackView>
    </div>
  )
}

function NoDevice({ deviceId }: { deviceId: string }) {
  return (
    <Page title="No such device">
      <Empty title="There is no such device" icon={MapPinOff}>
        <p>
          <Isolated class="strong">{deviceId}</Isolated>
        </p>
        <Silence deviceId={deviceId} />
        <a class="button primary" href={addressOf('/')}>
          To the map
        </a>
      </Empty>
    </Page>
  )
}

/** The device's latest rejected reports, with the reasons. */
function RecentRejections({ deviceId }: { deviceId: string }) {
  const latest = useLoad(
    (signal) => api.get('/rejections', { query: { deviceId, limit: 5 }, signal }),
    [deviceId],
    { everyMs: 30_000 },
  )
  return (
    <section class="card box stack" aria-labelledby="recent-rejections">
      <h2 id="recent-rejections">Latest rejections</h2>
      <Loaded of={latest} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">None in the last 7 days.</p>
          ) : (
            <>
              <ul class="stack near">
                {items.map(({ rejectionId, receivedAt, message }) => (
                  <li key={rejectionId} class="stack tight">
                    <span class="quiet">
                      <Ago at={receivedAt} />
                    </span>
                    <Isolated>{message}</Isolated>
                  </li>
                ))}
              </ul>
              <a href={addressOf(`/rejections?deviceId=${encodeURIComponent(deviceId)}`)}>
                Show all
              </a>
            </>
          )
        }
      </Loaded>
    </section>
  )
}
