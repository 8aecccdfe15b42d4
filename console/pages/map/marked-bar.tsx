import { X } from 'lucide'
import { watchWords } from '../../live/announce-changes.ts'
import { may } from '../../live/session.ts'
import { useDialog, FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { IconButton } from '../../ui/icon.tsx'
import { MOST_REPLAYED, replayPath } from '../../core/replay.ts'
import { go } from '../../ui/router.ts'
import { formatNumber, formatCount } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { LabelDevices } from '../device/labels.tsx'
import { switchDevices } from '../device/change-devices.ts'
import { placeName, readPlaces } from './device-places.ts'
import { endMarking, isMarking, markAll, markedDevices } from './map-state.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { devicesCsv } from '../../core/device-columns.ts'
import { saveFile } from '../../ui/save-file.ts'

/** A link shows at most this many devices. */
const SHARED_DEVICES = 50
const NONE = { devices: [], hidden: 0 } as const

/** The number of selected devices, and the actions on those in the list. */
export function MarkedBar() {
  watchWords()
  const { dialog, open } = useDialog(() => undefined)
  const { devices, hidden } = isMarking.value ? markedDevices() : NONE
  const disabledIds = devices.flatMap(({ deviceId, disabled }) => (disabled ? [deviceId] : []))
  const enable = useAction(() => switchDevices(disabledIds, false))
  if (!isMarking.value) return null
  const isNone = devices.length === 0
  return (
    <div class="marked-bar stack near" role="group" aria-label="Many devices">
      <p class="row between">
        <span role="status">
          {formatNumber(devices.length)} selected
          {hidden > 0 && <span class="quiet"> · {formatNumber(hidden)} hidden by the filter</span>}
        </span>
        <span class="row">
          <button type="button" class="small" onClick={markAll}>
            Select all
          </button>
          <IconButton icon={X} label="End selecting" small class="plain" onClick={endMarking} />
        </span>
      </p>
      <div class="row">
        {may('devices.edit') && (
          <button
            type="button"
            class="small"
            disabled={isNone}
            onClick={() => open((props) => <LabelDevices devices={devices} {...props} />)}
          >
            Label
          </button>
        )}
        {may('shares.edit') && (
          <button
            type="button"
            class="small"
            disabled={isNone || devices.length > SHARED_DEVICES}
            title={devices.length > SHARED_DEVICES ? 'A link shows at most 50 devices' : undefined}
            onClick={() =>
              go(`/shares?${new URLSearchParams(devices.map((one) => ['device', one.deviceId]))}`)
            }
          >
            Share
          </button>
        )}
        <button
          type="button"
          class="small"
          disabled={isNone || devices.length > MOST_REPLAYED}
          title={
            devices.length > MOST_REPLAYED
              ? `A replay shows at most ${MOST_REPLAYED} devices`
              : undefined
          }
          onClick={() => go(replayPath(devices.map(({ deviceId }) => deviceId)))}
        >
          Replay
        </button>
        <button type="button" class="small" disabled={isNone} onClick={() => saveCsv(devices)}>
          Export
        </button>
        {may('devices.disable') && (
          <>
            <button
              type="button"
              class="small"
              disabled={disabledIds.length === devices.length}
              onClick={() => open((props) => <DisableDevices devices={devices} {...props} />)}
            >
              Disable
            </button>
            <button
              type="button"
              class="small"
              disabled={disabledIds.length === 0 || enable.isRunning}
              onClick={enable.run}
            >
              Enable
            </button>
          </>
        )}
      </div>
      {enable.failure !== undefined && <FailedLine failure={enable.failure} />}
      {dialog}
    </div>
  )
}

/** Disables several devices, after asking: their reports are lost until they are enabled again. */
function DisableDevices({ devices, ...props }: DialogProps & { devices: readonly LiveDevice[] }) {
  const left = devices.filter(({ disabled }) => !disabled)
  const count = formatCount(left.length, 'device')

  async function disable(): Promise<void> {
    await switchDevices(
      left.map(({ deviceId }) => deviceId),
      true,
    )
    props.onClose()
  }

  return (
    <FormDialog {...props} title={`Disable ${count}?`} button="Disable" danger submit={disable}>
      <p>Their reports are rejected until you enable them again. Their history stays.</p>
    </FormDialog>
  )
}

/**
 * Saves devices, in this order, as a CSV file; without place names if the service does not provide
 * them.
 */
export function saveCsv(devices: readonly LiveDevice[]): void {
  const save = () => saveFile('devices.csv', devicesCsv(devices, placeName), 'text/csv')
  readPlaces(devices).then(save, save)
}
