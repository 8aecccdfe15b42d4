import './time-cursor.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { momentInAddress, momentOf } from '../../core/moment.ts'
import type { Span } from '../../core/span.ts'
import { useKeys } from '../../ui/keys.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { formatClock } from '../../ui/shown.ts'
import { sentenceOnDevicePage, type ApiFact } from '../../core/device-facts.ts'
import { PLOT_INSET } from '../../ui/time-plot.tsx'

/**
 * The selected moment of the displayed days, in milliseconds; undefined if none is selected. It is
 * in the address (`at`), so that it can be shared.
 */
export function useMoment(
  span: Span,
  zone: string,
): readonly [at: number | undefined, choose: (at: number) => void] {
  const asked = pageAddress.value.query.get('at') ?? ''
  const [moving, setMoving] = useState<number>()
  const written = useRef(asked)
  useEffect(() => setMoving(undefined), [span, zone])
  useEffect(() => {
    // Only an address that was not written here moves the cursor: by Back, or by a link. The
    // address has whole seconds, and the cursor may have moved since it was written.
    if (asked !== written.current) setMoving(undefined)
    written.current = asked
  }, [asked])
  useEffect(() => {
    if (moving === undefined) return undefined
    const timer = setTimeout(() => {
      written.current = momentInAddress(moving, span, zone)
      setQuery({ at: written.current })
    }, RESTS_MS)
    return () => clearTimeout(timer)
  }, [moving, span, zone])
  return [moving ?? momentOf(asked, span.first, zone), setMoving]
}

/** A replay moves many times a second; the address changes only once it rests. */
const RESTS_MS = 250

/** A time range marked on the axis. */
type TimeBand = { readonly from: number; readonly to: number }

/**
 * One time axis for a slider and the plots below it, which share bands, cursor and clicks. Time
 * runs from left to right in every language.
 */
export function TimeStrip({
  first,
  last,
  at,
  bands,
  selected,
  marks,
  onMove,
  onStep,
  children,
}: {
  first: number
  last: number
  at: number
  bands: readonly TimeBand[]
  selected: TimeBand | undefined
  /** Events to mark on the axis, the same as in the event list. */
  marks: readonly ApiFact[]
  onMove: (at: number) => void
  /** Selects the previous (-1) or next (1) report. */
  onStep: (by: -1 | 1) => void
  /** The plots. */
  children: ComponentChildren
}) {
  const share = (moment: number) => Math.max(0, Math.min(1, (moment - first) / (last - first)))
  const percent = (part: number) => `${100 * part}%`
  const extent = ({ from, to }: TimeBand) => ({
    left: percent(share(from)),
    width: percent(share(to) - share(from)),
  })
  function moveTo({ currentTarget, clientX, buttons }: PointerEvent & { currentTarget: Element }) {
    if (buttons !== 1) return
    const { left, width } = currentTarget.getBoundingClientRect()
    const part = Math.max(0, Math.min(1, (clientX - left) / width))
    onMove(first + part * (last - first))
  }
  const drawnMarks = useMemo(
    () =>
      marks.map((fact) => (
        <span
          key={fact.id}
          class={`time-mark ${fact.type.replace('.', ' ')}`}
          style={{ left: percent(share(Date.parse(fact.at))) }}
          title={sentenceOnDevicePage(fact)}
        />
      )),
    [marks, first, last],
  )
  const { left, right } = PLOT_INSET
  const slider = useRef<HTMLInputElement>(null)
  useKeys(
    {
      ArrowDown: { label: 'Previous or next report', run: () => onStep(-1) },
      ArrowUp: { label: 'Previous or next report', run: () => onStep(1) },
    },
    { title: 'On the time slider', element: slider },
  )
  return (
    <div
      class="time-strip"
      dir="ltr"
      style={{ '--plot-left': `${left}px`, '--plot-right': `${right}px` }}
    >
      <input
        ref={slider}
        type="range"
        aria-label="Time"
        aria-valuetext={formatClock(at)}
        min={first}
        max={last}
        step={1_000}
        value={at}
        onInput={({ currentTarget }) => onMove(Number(currentTarget.value))}
      />
      {children}
      <div class="time-area" onPointerDown={moveTo} onPointerMove={moveTo}>
        {bands.map((band) => (
          <span key={band.from} class="time-band" style={extent(band)} />
        ))}
        {selected !== undefined && <span class="time-band selected" style={extent(selected)} />}
        {drawnMarks}
        <span class="time-cursor" style={{ left: percent(share(at)) }} />
      </div>
    </div>
  )
}
