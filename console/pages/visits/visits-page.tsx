import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { addressOf } from '../../core/address.ts'
import { momentPath } from '../../core/device-facts.ts'
import { coordinatesText } from '../../core/measures.ts'
import { duration } from '../../core/times.ts'
import { Filters, FilterRange, FilterSelect } from '../../ui/filters.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { formatDistance, readerUnits } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { usePlace } from '../device/use-place.ts'
import { DeviceOrLabel } from '../events/device-or-label.tsx'

type Visit = components['schemas']['Visit']

const SPOT = ['latitude', 'longitude', 'radius'] as const
const NAMES = ['geofenceId', ...SPOT, 'from', 'to', 'deviceId', 'label'] as const
const RADII = [50, 100, 200, 500, 1_000, 5_000, 20_000]
/** Rows are sorted by time, so few pages are better. */
const PAGE = 1_000

/** Lists visits to a geofence or to a circle around a point; the page's address names the area. */
export function VisitsPage() {
  const query = pickParameters(pageAddress.value.query, NAMES)
  const { geofenceId, from, to, deviceId, label, latitude, longitude, radius } = query
  const spot = { latitude: Number(latitude), longitude: Number(longitude) }
  const area = geofenceId === undefined ? { ...spot, radius: Number(radius) } : { geofenceId }
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  const filter = {
    ...area,
    ...range,
    ...(deviceId !== undefined && { deviceId }),
    ...(label !== undefined && { label: [label] }),
  }
  const { items, ...list } = usePages(
    (cursor, signal) => api.get('/visits', { query: { ...filter, limit: PAGE, cursor }, signal }),
    [filter],
  )
  const file = new URLSearchParams({ ...query, format: 'csv' })
  return (
    <ListPage
      title="Who was here?"
      list={{ ...list, items: items?.toSorted((a, b) => (a.from < b.from ? -1 : 1)) }}
      columns={COLUMNS}
      keyOf={({ deviceId: id, from: begin }) => `${id} ${begin}`}
      actions={
        <a class="button" href={addressOf(`/api/v1/visits?${file}`)} download data-outside>
          Export as CSV
        </a>
      }
      filters={
        <>
          {geofenceId === undefined ? <Spot of={spot} /> : <Geofence id={geofenceId} />}
          <Filters label="Filter visits" isUsed>
            {geofenceId === undefined && (
              <FilterSelect
                name="radius"
                label="Within"
                none="–"
                options={radii(Number(radius)).map(
                  (metres) => [`${metres}`, formatDistance(metres) ?? ''] as const,
                )}
                value={radius}
              />
            )}
            <DeviceOrLabel of={query} />
            <FilterRange range={range} />
          </Filters>
          {from === undefined && <p class="quiet">The last 24 hours, unless a start is chosen.</p>}
        </>
      }
      empty={
        <Empty title="Nobody was here">
          <p>No device has a position in this area at these times.</p>
        </Empty>
      }
    />
  )
}

/** The page's address may contain another radius. */
function radii(radius: number): readonly number[] {
  return [...new Set(radius > 0 ? [...RADII, radius] : RADII)].sort((a, b) => a - b)
}

function Spot({ of: spot }: { of: { latitude: number; longitude: number } }) {
  const place = usePlace(spot)
  return (
    <p>
      <code>{coordinatesText(spot)}</code> {place !== undefined && <Isolated>{place}</Isolated>}
    </p>
  )
}

function Geofence({ id }: { id: string }) {
  const { data } = useLoad((signal) => api.get('/geofences/{id}', { path: { id }, signal }), [id])
  return (
    <p>
      <a href={addressOf(`/geofences?geofence=${id}`)}>
        <Isolated>{data?.name ?? 'Geofence'}</Isolated>
      </a>
    </p>
  )
}

const COLUMNS: readonly Column<Visit>[] = [
  {
    title: 'Device',
    cell: ({ deviceId, name, from }) => (
      <a href={addressOf(momentPath(deviceId, Date.parse(from), readerZone()))}>
        <Isolated>{name ?? deviceId}</Isolated>
      </a>
    ),
  },
  {
    title: 'From',
    cell: ({ from, open }) =>
      open === 'before' || open === 'both' ? 'already there' : <TimeCell at={from} />,
  },
  {
    title: 'To',
    cell: ({ to, open }) =>
      open === 'after' || open === 'both' ? 'still there' : <TimeCell at={to} />,
  },
  { title: 'Duration', cell: ({ seconds }) => duration(seconds * 1_000, readerUnits()) },
  { title: 'Last report here', cell: ({ lastInsideAt }) => <TimeCell at={lastInsideAt} /> },
]
