import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf, devicePath } from '../../core/address.ts'
import { toFailure, type ApiFailure } from '../../core/failure.ts'
import type { FoundHistory } from '../../core/history.ts'
import { Field } from '../../ui/form.tsx'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { formatCount, formatDateTime } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { countHistory, sendHistory, type Imported } from './read-files.ts'

const LISTED = 5
const LISTED_REASONS = 20

type State =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'reading' | 'sending'; readonly share: number; readonly points: number }
  | { readonly kind: 'found'; readonly found: FoundHistory }
  | { readonly kind: 'imported'; readonly found: FoundHistory; readonly imported: Imported }

/**
 * Imports files from this page: they are read in this browser, shown, and sent once the operator
 * confirms.
 */
export function ImportFiles({ deviceId: suggested }: { deviceId: string }) {
  const [files, setFiles] = useState<readonly File[]>([])
  const [given, setGiven] = useState<string>()
  const [state, setState] = useState<State>({ kind: 'waiting' })
  const [failure, setFailure] = useState<ApiFailure>()
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  const deviceId = (given ?? suggested).trim()
  const total = files.reduce((sum, { size }) => sum + size, 0)

  /** Runs until it ends or is cancelled; then the previous state returns. */
  function run(kind: 'reading' | 'sending', work: (read: Reading) => Promise<State>): void {
    const before = state
    running.current?.abort()
    const working = new AbortController()
    running.current = working
    const { signal } = working
    setFailure(undefined)
    setState({ kind, share: 0, points: 0 })
    const onProgress = ({ bytes, points }: { bytes: number; points: number }) =>
      signal.aborted || setState({ kind, share: Math.min(1, bytes / (total || 1)), points })
    work({ files, deviceId, signal, onProgress }).then(
      (next) => signal.aborted || setState(next),
      (thrown: unknown) => {
        // Another run has started.
        if (running.current !== working) return
        setState(before)
        if (!signal.aborted) setFailure(toFailure(thrown))
      },
    )
  }

  const read = () =>
    run('reading', async (reading) => ({ kind: 'found', found: await countHistory(reading) }))
  const send = (found: FoundHistory) =>
    run('sending', async (reading) => {
      const imported = { accepted: 0, refused: new Map<string, number>() }
      await sendHistory(reading, imported)
      return { kind: 'imported', found, imported }
    })
  useEffect(() => {
    if (files.length > 0) read()
  }, [files, deviceId])

  return (
    <div
      class="stack some drop-files"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        setFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <Field
        name="historyDevice"
        label="Device of the files"
        hint="Leave it empty if the files name their devices."
        value={given ?? suggested}
        maxLength={128}
        autoComplete="off"
        onInput={({ currentTarget }) => setGiven(currentTarget.value)}
      />
      <label class="stack tight">
        Choose files, or drop them here
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => setFiles([...(currentTarget.files ?? [])])}
        />
      </label>
      {failure !== undefined && <FailedLine failure={failure} />}
      {(state.kind === 'reading' || state.kind === 'sending') && (
        <div class="row">
          <progress max={1} value={state.share} aria-label="Progress" />
          <span role="status">
            {state.kind === 'reading' ? 'Reading' : 'Importing'}:{' '}
            {formatCount(state.points, 'position')}
          </span>
          <button type="button" class="small" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        </div>
      )}
      {state.kind === 'found' && (
        <>
          <Found of={state.found} />
          {state.found.points > 0 && (
            <button type="button" class="primary" onClick={() => send(state.found)}>
              Import {formatCount(state.found.points, 'position')}
            </button>
          )}
        </>
      )}
      {state.kind === 'imported' && <Result of={state.imported} found={state.found} />}
    </div>
  )
}

type Reading = Parameters<typeof countHistory>[0]

/** Summarises the files' content, with a map. */
function Found({ of: { points, devices, leftOut, places } }: { of: FoundHistory }) {
  return (
    <>
      <p role="status" class="strong">
        {points === 0 ? 'No positions in these files' : `${formatCount(points, 'position')} found`}
      </p>
      <ul class="stack tight">
        {devices.slice(0, LISTED).map(({ deviceId, count, from, to }) => (
          <li key={deviceId}>
            <Isolated class="strong">{deviceId}</Isolated> {formatCount(count, 'position')},{' '}
            {formatDateTime(Date.parse(from))} – {formatDateTime(Date.parse(to))}
          </li>
        ))}
        {devices.length > LISTED && <li>and {devices.length - LISTED} more devices</li>}
      </ul>
      {leftOut.length > 0 && (
        <details open={points === 0}>
          <summary>Omitted</summary>
          <ul class="stack tight">
            {leftOut.slice(0, LISTED_REASONS).map(({ reason, count, where }) => (
              <li key={reason}>
                {explainOmitted(reason, count)}
                {count > 0 && (
                  <span class="quiet">
                    {' '}
                    (<Isolated>{where}</Isolated>)
                  </span>
                )}
              </li>
            ))}
            {leftOut.length > LISTED_REASONS && (
              <li>and {leftOut.length - LISTED_REASONS} more reasons</li>
            )}
          </ul>
        </details>
      )}
      {places.length > 0 && <Preview places={places} />}
    </>
  )
}

const UNKNOWN_FORMAT = /^its format is not recognised: name it with --format \((.*)\)$/

/** Explains why items were omitted. On this page the operator cannot choose a file's format. */
function explainOmitted(reason: string, count: number): string {
  const [, formats] = UNKNOWN_FORMAT.exec(reason) ?? []
  return formats === undefined
    ? `${count > 0 ? `${formatCount(count, 'point')}: ` : ''}${isolate(reason)}`
    : `This kind of file is not supported. Supported: ${formats}.`
}

/** The map is loaded only now: it is larger than the whole page. */
function Preview({ places }: Pick<FoundHistory, 'places'>) {
  const [Loaded, setLoaded] = useState<ComponentType<Pick<FoundHistory, 'places'>>>()
  useEffect(() => {
    import('./history-map.tsx').then(
      ({ HistoryMap }) => setLoaded(() => HistoryMap),
      // The list already says so.
      () => undefined,
    )
  }, [])
  return Loaded === undefined ? null : <Loaded places={places} />
}

function Result({ of: { accepted, refused }, found }: { of: Imported; found: FoundHistory }) {
  const [first] = found.devices
  return (
    <div class="notice stack tight">
      <p role="status" class="strong">
        {formatCount(accepted, 'position')} imported
      </p>
      {[...refused].slice(0, LISTED).map(([message, count]) => (
        <p key={message}>
          {formatCount(count, 'position')} rejected: <Isolated>{message}</Isolated>
        </p>
      ))}
      <p class="quiet">Positions already known are not stored twice.</p>
      {first !== undefined && (
        <p>
          <a href={addressOf(`${devicePath(first.deviceId)}?day=${first.to.slice(0, 10)}`)}>
            Show the last day
          </a>
        </p>
      )}
    </div>
  )
}
