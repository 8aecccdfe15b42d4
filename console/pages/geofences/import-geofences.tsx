import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { shapeFaultText } from '../../core/shape-fault.ts'
import { fieldFailure } from '../../core/failure.ts'
import { featureParts } from '../../core/feature-parts.ts'
import { countText } from '../../core/measures.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'

type Result = {
  readonly name: string
  readonly fault: string | undefined
  readonly leftOut: readonly string[]
}

/** Creates geofences from a file, and reports the outcome for each feature. */
export function ImportGeofences(props: DialogProps) {
  const [file, setFile] = useState<File>()
  const [results, setResults] = useState<readonly Result[]>()

  async function send() {
    if (file === undefined) throw fieldFailure('file', 'Choose a file.')
    const features = parseFeatures(await file.text())
    const all: Result[] = []
    for (const part of featureParts(features)) {
      const body = { type: 'FeatureCollection', features: part } as never
      const { results: some } = await api.post('/geofences/import', { body })
      for (const { index, message, leftOut = [] } of some) {
        const feature = part[index] as { properties?: { name?: unknown } } | undefined
        const name = feature?.properties?.name
        all.push({
          name: typeof name === 'string' ? name : `Feature ${all.length + 1}`,
          fault: message && shapeFaultText(message),
          leftOut,
        })
      }
    }
    setResults(all)
  }

  const faulty = results?.filter(({ fault }) => fault !== undefined) ?? []
  if (results !== undefined) {
    return (
      <Dialog title="Geofences from a file" onClose={props.onClose}>
        <div class="stack near" role="status">
          <p class="strong">
            {countText(results.length - faulty.length, 'geofence')} created
            {faulty.length > 0 && `, ${countText(faulty.length, 'feature')} refused`}.
          </p>
          <ul class="stack tight" aria-label="Results">
            {results.map(({ name, fault, leftOut }, index) => (
              <li key={index} class={fault === undefined ? undefined : 'fault'}>
                <Isolated class="strong">{name}</Isolated>: {fault ?? 'created'}
                {leftOut.length > 0 && (
                  <>
                    , without <Isolated>{leftOut.join(', ')}</Isolated>
                  </>
                )}
              </li>
            ))}
          </ul>
        </div>
        <div class="form-buttons row">
          <button type="button" class="primary" onClick={props.onClose}>
            Done
          </button>
          <button type="button" onClick={() => setResults(undefined)}>
            Another file
          </button>
        </div>
      </Dialog>
    )
  }
  return (
    <FormDialog {...props} title="Geofences from a file" button="Import" submit={send}>
      <Field
        name="file"
        label="GeoJSON file"
        hint="Polygons, multipolygons, and points with a property radius in metres. The property name becomes the name, up to ten others are kept."
      >
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".geojson,.json,application/geo+json,application/json"
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
          />
        )}
      </Field>
    </FormDialog>
  )
}

function parseFeatures(text: string): readonly unknown[] {
  try {
    const { features } = JSON.parse(text) as { features?: unknown }
    if (Array.isArray(features) && features.length > 0) return features
  } catch {
    // The same advice helps.
  }
  throw fieldFailure('file', 'This is not a GeoJSON FeatureCollection.')
}
