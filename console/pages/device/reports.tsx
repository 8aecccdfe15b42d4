import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceAttributes } from '../../core/readings.ts'
import { coordinatesText } from '../../core/measures.ts'
import { Select } from '../../ui/choice-fields.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { formatClock, formatLength, formatSpeed } from '../../ui/shown.ts'
import { attributeFacts } from '../../ui/device-parts.tsx'
import { pointAt, type TrackPoint } from '../../core/track.ts'
import { urlOf } from '../../api/client.ts'
import { rangeQuery } from '../../core/span.ts'
import type { DeviceRange } from './track-data.ts'

const ROWS = 15

/** The points around the time cursor; a click on a time moves the cursor there. */
export function PointTable({
  points,
  at,
  hasDates,
  onMove,
}: {
  points: readonly TrackPoint[]
  at: number
  hasDates: boolean
  onMove: (at: number) => void
}) {
  const here = pointAt(points, at)
  const begin = Math.max(0, Math.min(here - Math.floor(ROWS / 2), points.length - ROWS))
  return (
    <Table
      caption="Points around the time cursor"
      rows={points.slice(begin, begin + ROWS)}
      keyOf={(point) => String(points.indexOf(point))}
      columns={[
        {
          title: 'Time',
          cell: (point) => (
            <button
              type="button"
              class="small plain"
              aria-pressed={point === points[here]}
              onClick={() => onMove(point.at)}
            >
              {hasDates ? (
                <TimeCell at={new Date(point.at).toISOString()} />
              ) : (
                formatClock(point.at)
              )}
            </button>
          ),
        },
        { title: 'Place', cell: (point) => <code>{coordinatesText(point)}</code> },
        { title: 'Speed', isNumber: true, cell: ({ speed }) => formatSpeed(speed) ?? '–' },
        {
          title: 'Heading',
          isNumber: true,
          cell: ({ heading }) => (heading === undefined ? '–' : `${Math.round(heading)}°`),
        },
        {
          title: 'Altitude',
          isNumber: true,
          cell: ({ altitude }) => formatLength(altitude) ?? '–',
        },
        { title: 'Attributes', cell: ({ attributes }) => <AttributeList of={attributes} /> },
        {
          title: '',
          cell: ({ after, isImported }) =>
            [after && `after a ${after}`, isImported && 'imported'].filter(Boolean).join(', '),
        },
      ]}
    />
  )
}

function AttributeList({ of: attributes }: { of: DeviceAttributes }) {
  return (
    <span class="note">
      {attributeFacts(attributes).map(([name, value], index) => (
        <Fragment key={index}>
          {index > 0 && ' · '}
          {name} {value}
        </Fragment>
      ))}
    </span>
  )
}

const FORMATS = ['gpx', 'geojson', 'csv', 'ndjson'] as const

const EXPORTED = [
  ['range', 'Reports of the days shown'],
  ['all', 'All reports'],
] as const

/** Links to files with all records of a range, or of all times. */
export function Exports({ range: { deviceId, from, to } }: { range: DeviceRange }) {
  const [exported, setExported] = useState<string>('range')
  return (
    <section class="card box stack near" aria-labelledby="exports">
      <h2 id="exports">Export</h2>
      <Select
        aria-label="Export which reports"
        options={EXPORTED}
        value={exported}
        onChange={setExported}
      />
      <p class="row">
        {FORMATS.map((format) => (
          <a
            key={format}
            class="button small"
            download
            href={urlOf('/devices/{deviceId}/positions', {
              path: { deviceId },
              query: { ...(exported === 'range' && rangeQuery({ from, to })), format },
            })}
          >
            {format.toUpperCase()}
          </a>
        ))}
      </p>
    </section>
  )
}
