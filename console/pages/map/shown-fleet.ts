import { computed, signal } from '@preact/signals'
import { api } from '../../api/client.ts'
import { Fleet } from '../../core/fleet.ts'
import { hasReported } from '../../core/listed-device.ts'
import { sosDevices } from '../../live/alarms.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet, lister } from '../../live/live.ts'
import { now } from '../../ui/clock.ts'
import { useDebounced } from '../../ui/pick.tsx'
import { pageAddress } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'

/**
 * The time in the address (`at`) whose fleet the map shows, in milliseconds; undefined for the
 * present.
 */
export const pastAt = computed(() => {
  const ms = Date.parse(pageAddress.value.query.get('at') ?? '')
  return Number.isFinite(ms) ? ms : undefined
})

/** The fleet of a past moment; the previous one stays while another is read. */
const past = signal(new Fleet())

/** The devices on the map and in its list. */
export function shownFleet(): Fleet {
  return pastAt.value === undefined ? fleet : past.value
}

/** The time that ages on the map refer to. */
export const shownNow = computed(() => pastAt.value ?? now.value)

/** Calls for help belong to the present. */
export const shownSos = computed(() => (pastAt.value === undefined ? sosDevices.value : NO_DEVICES))
const NO_DEVICES: ReadonlySet<string> = new Set()

const PAGE = 5_000
/** A dragged slider passes many times; only the one it rests on is loaded. */
const RESTS_MS = 150

/** Reads the fleet of the moment in the address, and reports the state of the shown fleet. */
export function useShownFleet() {
  const isPast = pastAt.value !== undefined
  const resting = useDebounced(pastAt.value === undefined ? '' : `${pastAt.value}`, RESTS_MS)
  const load = useLoad(
    async (signal) => {
      past.value = resting === '' ? new Fleet() : await readFleetAt(Number(resting), signal)
      markChanged()
      return true
    },
    [resting],
  )
  if (!isPast) {
    const [isRead, failure] = [lister.isListed.value, lister.failure.value]
    return { isRead, failure, retry: lister.retry }
  }
  const isRead = load.data === true && resting === `${pastAt.value}`
  return { isRead, failure: load.failure, retry: load.reload }
}

async function readFleetAt(atMs: number, signal: AbortSignal): Promise<Fleet> {
  const read = new Fleet()
  const list = read.list()
  const at = new Date(atMs).toISOString()
  let cursor: string | undefined
  do {
    const query = { at, limit: PAGE, ...(cursor && { cursor }) }
    const page = await api.get('/devices', { query, signal })
    const items = page.items.filter(hasReported)
    list.page(items, atMs)
    for (const { deviceId, status, lastSeenAt } of items) {
      const device = read.devices.get(deviceId)
      // Reports received later did not count at that time.
      if (device) Object.assign(device, { status, lastSeenMs: Date.parse(lastSeenAt) })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return read
}
