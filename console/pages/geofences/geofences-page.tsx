import './geofences.css'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Shapes } from 'lucide'
import { urlOf } from '../../api/client.ts'
import { parseCorners, shapeText, sketchOf } from '../../core/sketch.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { may } from '../../live/session.ts'
import { FormDialog, useDialog } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { arriveAt, useTitle } from '../../ui/page.tsx'
import { isPhone } from '../../ui/phone.ts'
import { holdPage, pageAddress, setQuery } from '../../ui/router.ts'
import { formatCount, readerUnits } from '../../ui/shown.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { DeleteGeofence, GeofenceCard } from './geofence-card.tsx'
import { GeofenceForm } from './geofence-form.tsx'
import { GeofenceMap } from './geofence-map.tsx'
import { ImportGeofences } from './import-geofences.tsx'
import { toPaintedGeofence, useGeofences, type ApiGeofence } from './use-definitions.ts'
import { useSketch } from './use-sketch.ts'
import { describeDevices } from './whom.tsx'

/** Maximum number of rows, because more take long to render. */
const MOST_ROWS = 200

/** All geofences, as a list and on a map, which also draws them. */
export function GeofencesPage() {
  useTitle('Geofences')
  watchWords()
  const { query } = pageAddress.value
  const all = useGeofences()
  const { dialog, open } = useDialog(all.reload)
  const geofences = all.data ?? []
  const selected = geofences.find(({ id }) => id === query.get('geofence'))
  const isNew = query.has('new') && may('geofences.edit')
  const [edited, setEdited] = useState<ApiGeofence>()
  const isDrawing = isNew || edited !== undefined
  const drawing = useSketch(() => {
    const [centre] = parseCorners(query.get('new') ?? '') ?? []
    return centre && { type: 'circle', centre, radius: 60 }
  })
  const isHalfDrawn = isDrawing && drawing.canUndo
  useEffect(
    () =>
      isHalfDrawn
        ? holdPage((leave) => open((props) => <LeaveDrawing {...props} leave={leave} />))
        : undefined,
    [isHalfDrawn],
  )
  const painted = useMemo(() => geofences.map(toPaintedGeofence), [all.data])

  function change(geofence: ApiGeofence) {
    setEdited(geofence)
    drawing.begin(sketchOf(geofence.shape))
  }

  function close() {
    setEdited(undefined)
    drawing.begin(undefined)
    setQuery({ new: undefined, name: undefined })
  }

  const panel = (
    <div key="panel" class="geofences-panel stack">
      <h1 ref={arriveAt} tabIndex={-1}>
        Geofences
      </h1>
      {isDrawing ? (
        <GeofenceForm
          key={edited?.id}
          of={edited}
          name={isNew ? (query.get('name') ?? '') : ''}
          drawing={drawing}
          onSaved={({ id }) => {
            close()
            setQuery({ geofence: id })
            all.reload()
          }}
          onCancel={close}
        />
      ) : (
        <>
          <div class="row">
            {may('geofences.edit') && (
              <>
                <button
                  type="button"
                  class="primary"
                  onClick={() => setQuery({ new: '1', geofence: undefined })}
                >
                  New geofence
                </button>
                <button
                  type="button"
                  onClick={() => open((props) => <ImportGeofences {...props} />)}
                >
                  From a file
                </button>
              </>
            )}
            {geofences.length > 0 && (
              <a
                class="button"
                download
                href={urlOf('/geofences', { query: { format: 'geojson' } })}
              >
                Export
              </a>
            )}
          </div>
          {selected && (
            <GeofenceCard
              of={selected}
              onChange={() => change(selected)}
              onDelete={() =>
                open((props) => (
                  <DeleteGeofence
                    {...props}
                    of={selected}
                    onDone={() => {
                      setQuery({ geofence: undefined })
                      props.onDone()
                    }}
                  />
                ))
              }
              onClose={() => setQuery({ geofence: undefined })}
            />
          )}
          <Loaded of={all}>{(items) => <List of={items} selected={selected} />}</Loaded>
        </>
      )}
    </div>
  )
  const map = (
    <GeofenceMap
      key="map"
      geofences={painted}
      selected={edited ?? selected}
      drawing={drawing}
      onSelect={(id) => isDrawing || setQuery({ geofence: id })}
    />
  )
  return (
    <div class="geofences-page">
      {/* As they are seen, so that Tab follows. */}
      {isPhone.value ? [map, panel] : [panel, map]}
      {dialog}
    </div>
  )
}

function LeaveDrawing({ leave, onClose }: { leave: () => void; onClose: () => void }) {
  return (
    <FormDialog
      title="Leave without saving"
      button="Leave"
      danger
      submit={async () => leave()}
      onClose={onClose}
    >
      <p>Your drawing will be lost.</p>
    </FormDialog>
  )
}

function List({
  of: geofences,
  selected,
}: {
  of: readonly ApiGeofence[]
  selected: ApiGeofence | undefined
}) {
  const [typed, setTyped] = useState('')
  const words = typed.toLowerCase().split(/\s+/)
  const found = geofences.filter(({ name, externalId = '' }) => {
    const text = `${name} ${externalId}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  if (geofences.length === 0) {
    return (
      <Empty title="No geofences yet" icon={Shapes}>
        <p>
          A geofence is a place, such as a yard or a customer. When a device enters or leaves it,
          that is an event.
        </p>
      </Empty>
    )
  }
  return (
    <>
      <input
        type="search"
        aria-label="Search geofences"
        placeholder="Search by name"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <ul class="box geofence-list" role="list" aria-label="Geofences">
        {found.slice(0, MOST_ROWS).map((one) => (
          <li key={one.id}>
            <button
              type="button"
              class="plain"
              aria-current={one === selected ? 'true' : undefined}
              onClick={() => setQuery({ geofence: one.id })}
            >
              <Isolated class="one-line strong">{one.name}</Isolated>
              <Isolated class="one-line note">{noteOn(one)}</Isolated>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">No geofence matches.</p>}
      {found.length > MOST_ROWS && (
        <p class="quiet">
          {formatCount(found.length - MOST_ROWS, 'more geofence')}: search by name.
        </p>
      )}
    </>
  )
}

function noteOn(geofence: ApiGeofence): string {
  const words = [shapeText(geofence.shape, readerUnits()), describeDevices(geofence)]
  return [...words, ...(geofence.enabled ? [] : ['disabled'])].join(' · ')
}
