import { api } from '../api/client.ts'
import type { components } from '../api/schema.ts'
import { Isolated } from '../parts/isolated.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { MoreButton, Table, type Column } from '../parts/table.tsx'
import { Ago } from '../parts/time.tsx'
import { usePages } from '../parts/use-pages.ts'

type Device = components['schemas']['Device']

export function MapPage() {
  const { items, failure, isLoading, reload, more } = usePages(
    (cursor, signal) => api.get('/devices', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  return (
    <Page title="Devices" wide>
      {items === undefined ? (
        failure === undefined ? (
          <Loading />
        ) : (
          <Failed failure={failure} onRetry={reload} />
        )
      ) : items.length === 0 ? (
        <Empty title="No device has reported yet">
          <p>Make an API key and send a first report with it.</p>
        </Empty>
      ) : (
        <>
          <Table caption="Devices" columns={COLUMNS} rows={items} keyOf={(one) => one.deviceId} />
          <MoreButton more={more} isLoading={isLoading} />
        </>
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<Device>[] = [
  { title: 'Device', cell: ({ deviceId, name }) => <Isolated>{name ?? deviceId}</Isolated> },
  { title: 'Status', cell: ({ status }) => status },
  { title: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
]
