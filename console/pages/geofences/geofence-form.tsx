import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { fieldFailure, toFailure } from '../../core/failure.ts'
import { shapeFaultText } from '../../core/shape-fault.ts'
import {
  canFinish,
  closeSketch,
  NEW_AREA,
  NEW_CIRCLE,
  parseCorners,
  formatCorners,
  buildShape,
  shapeText,
  removeCorner,
  type Sketch,
} from '../../core/sketch.ts'
import { changeSaver } from '../../core/save-change.ts'
import { toastOthers } from '../../ui/others-changed.ts'
import { Field, Form, type Values, useTyped } from '../../ui/form.tsx'
import { toast } from '../../ui/announcements.tsx'
import type { ApiGeofence } from './use-definitions.ts'
import type { Drawing } from './use-sketch.ts'
import { useWhom } from './whom.tsx'

const MOST_LETTERS = 64

/** A new or edited geofence: its shape, as drawn or as numbers, and its settings. */
export function GeofenceForm({
  of: geofence,
  name: newName,
  drawing,
  onSaved,
  onCancel,
}: {
  of: ApiGeofence | undefined
  /** The suggested name for a new geofence. */
  name: string
  drawing: Drawing
  onSaved: (geofence: ApiGeofence) => void
  onCancel: () => void
}) {
  const whom = useWhom(geofence ?? {})
  const [isEnabled, setEnabled] = useState(geofence?.enabled ?? true)

  const [change] = useState(
    () =>
      geofence &&
      changeSaver<ApiGeofence>(geofence, {
        send: (body) => api.patch('/geofences/{id}', { path: { id: geofence.id }, body: body }),
        read: () => api.get('/geofences/{id}', { path: { id: geofence.id } }),
      }),
  )

  async function save({ name = '', confirmSeconds = '', ...values }: Values) {
    const shape = readShape(drawing.sketch, values)
    const content = {
      name: name.trim(),
      confirmSeconds: Number(confirmSeconds || 0),
      enabled: isEnabled,
      ...whom.read(),
    }
    if (change === undefined) {
      const body = { ...content, shape } as never
      onSaved(await rewordFailure(api.post('/geofences', { body })))
      return toast('Geofence created.')
    }
    // An untouched shape remains as precise as it was.
    const { saved, others } = await rewordFailure(
      change({ ...content, ...(drawing.canUndo && { shape }) }),
    )
    onSaved(saved)
    toast('Geofence changed.')
    toastOthers(others)
  }

  return (
    <section class="stack" aria-label={geofence === undefined ? 'New geofence' : 'Change geofence'}>
      <h2>{geofence === undefined ? 'New geofence' : 'Change geofence'}</h2>
      <Form button="Save" submit={save} cancel={onCancel}>
        <ShapeFields drawing={drawing} />
        <Field
          name="name"
          label="Name"
          maxLength={MOST_LETTERS}
          autoComplete="off"
          defaultValue={geofence?.name ?? newName.slice(0, MOST_LETTERS)}
        />
        {whom.fields}
        <Field
          name="confirmSeconds"
          label="Confirm after, s"
          hint="How long a device must stay inside or outside. 0 to 3600."
          inputMode="numeric"
          defaultValue={String(geofence?.confirmSeconds ?? 0)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isEnabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
          />
          Enabled
        </label>
      </Form>
    </section>
  )
}

/** The API names coordinates, people draw corners. */
async function rewordFailure<Saved>(saving: Promise<Saved>): Promise<Saved> {
  try {
    return await saving
  } catch (thrown) {
    const { error, details } = toFailure(thrown)
    const fault = details.find(({ field }) => field.startsWith('shape'))
    if (fault === undefined || error === 'CONFLICT') throw thrown
    throw fieldFailure('shape', shapeFaultText(fault.message))
  }
}

const WRONG_PLACES = 'Enter each point as latitude, longitude, such as 48.2, 16.4.'

function readShape(sketch: Sketch | undefined, values: Values) {
  if (parseCorners(values['shape'] ?? '') === undefined) throw fieldFailure('shape', WRONG_PLACES)
  const shape = sketch && buildShape(closeSketch(sketch))
  if (shape !== undefined) return shape
  const message =
    sketch?.type === 'area'
      ? 'Draw at least three corners, or enter them.'
      : 'Draw the shape on the map, or enter its numbers.'
  throw fieldFailure('shape', message)
}

/** The shape on the map as numbers, for people who cannot draw. */
function ShapeFields({ drawing }: { drawing: Drawing }) {
  const { sketch, marked, set } = drawing
  return (
    <fieldset class="stack near">
      <legend>Shape</legend>
      <div class="row">
        <button
          type="button"
          aria-pressed={sketch?.type === 'circle'}
          onClick={() => drawing.begin(NEW_CIRCLE)}
        >
          Draw a circle
        </button>
        <button
          type="button"
          aria-pressed={sketch?.type === 'area'}
          onClick={() => drawing.begin(NEW_AREA)}
        >
          Draw a polygon
        </button>
      </div>
      <p class="note" role="status">
        {adviceOn(sketch)}
      </p>
      {sketch?.type === 'circle' && <CircleFields sketch={sketch} drawing={drawing} />}
      {sketch?.type === 'area' && <AreaField sketch={sketch} drawing={drawing} />}
      <div class="row">
        {sketch && canFinish(sketch) && (
          <button type="button" onClick={() => set(closeSketch(sketch))}>
            Finish
          </button>
        )}
        {sketch?.type === 'area' && marked !== undefined && (
          <button type="button" onClick={() => set(removeCorner(sketch, marked))}>
            Remove the corner
          </button>
        )}
        <button type="button" disabled={!drawing.canUndo} onClick={drawing.undo}>
          Undo
        </button>
      </div>
    </fieldset>
  )
}

function adviceOn(sketch: Sketch | undefined): string {
  if (sketch === undefined) return 'Draw it on the map, or enter its numbers.'
  if (sketch.type === 'circle') {
    return sketch.centre === undefined
      ? 'Click the centre on the map.'
      : 'Drag the centre to move it, the edge to resize it.'
  }
  if (!sketch.isDrawing) return 'Drag corners to reshape it, the filled point to move it.'
  const [[ring = []] = []] = sketch.polygons
  if (ring.length < 3) return 'Click the corners on the map.'
  return 'Click the first corner again to finish.'
}

/**
 * A field of coordinates, which the map shows while they are typed. It follows the map, but
 * preserves what is being typed.
 */
function useTypedPlaces(text: string, take: (typed: string) => void, { keepTyped }: Drawing) {
  const [typed, setTyped] = useState<string>()
  return {
    value: typed ?? text,
    onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      setTyped(value)
      take(value)
    },
    onBlur: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      if (typed === undefined || parseCorners(value) === undefined) return
      setTyped(undefined)
      keepTyped()
    },
  }
}

function CircleFields({
  sketch,
  drawing,
}: {
  sketch: Extract<Sketch, { type: 'circle' }>
  drawing: Drawing
}) {
  const { centre, radius } = sketch
  const place = useTypedPlaces(
    centre === undefined ? '' : formatCorners([centre]),
    (typed) => {
      const [to, more] = parseCorners(typed) ?? []
      if (to !== undefined && more === undefined) drawing.show({ ...sketch, centre: to })
    },
    drawing,
  )
  const metres = useTyped(String(radius), (typed) => {
    drawing.set({ ...sketch, radius: Number(typed) })
    return true
  })
  return (
    <div class="tiles near">
      <Field
        name="shape"
        label="Centre"
        {...place}
        placeholder="Latitude, longitude"
        autoComplete="off"
        spellcheck={false}
      />
      <Field
        name="shape.radius"
        label="Radius, m"
        inputMode="decimal"
        autoComplete="off"
        {...metres}
      />
    </div>
  )
}

function AreaField({
  sketch,
  drawing,
}: {
  sketch: Extract<Sketch, { type: 'area' }>
  drawing: Drawing
}) {
  const [ring = [], ...others] = sketch.polygons.flat()
  const corners = useTypedPlaces(
    formatCorners(ring),
    (typed) => {
      const places = parseCorners(typed)
      if (places !== undefined) {
        drawing.show({ ...sketch, polygons: [[places]], isDrawing: places.length < 3 })
      }
    },
    drawing,
  )
  if (others.length > 0) {
    const shape = buildShape(sketch)
    return <p>{shape && shapeText(shape)}. Reshape it on the map.</p>
  }
  return (
    <Field name="shape" label="Corners" hint="Latitude, longitude; one corner per line.">
      {(attributes) => <textarea {...attributes} {...corners} rows={5} spellcheck={false} />}
    </Field>
  )
}
