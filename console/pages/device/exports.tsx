import { urlOf } from '../../api/client.ts'
import type { DeviceRange } from './use-reports.ts'

const FORMATS = ['gpx', 'geojson', 'csv', 'ndjson'] as const

/** Links to files with all records of a range. */
export function Exports({ range: { deviceId, from, to } }: { range: DeviceRange }) {
  return (
    <section class="card box stack near" aria-labelledby="exports">
      <h2 id="exports">Export all reports</h2>
      <p class="row">
        {FORMATS.map((format) => (
          <a
            key={format}
            class="button small"
            download
            href={urlOf('/devices/{deviceId}/positions', {
              path: { deviceId },
              query: { from, to, format },
            })}
          >
            {format.toUpperCase()}
          </a>
        ))}
      </p>
    </section>
  )
}
