import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useKeys } from '../../ui/keys.tsx'
import { shownClock } from '../../ui/shown.ts'
import { PLOT_INSET } from '../../ui/time-plot.tsx'

/** A stretch of time that is marked on the axis. */
type Band = { readonly from: number; readonly to: number }

/**
 * One axis of time for a slider and the plots below it: bands, the cursor, and clicks are the same
 * for all of them. Time runs from left to right in every language.
 */
export function TimeStrip({
  first,
  last,
  at,
  bands,
  selected,
  onMove,
  onStep,
  children,
}: {
  first: number
  last: number
  at: number
  bands: readonly Band[]
  selected: Band | undefined
  onMove: (at: number) => void
  /** Goes to the report before (-1) or after (1). */
  onStep: (by: -1 | 1) => void
  /** The plots. */
  children: ComponentChildren
}) {
  const share = (moment: number) => Math.max(0, Math.min(1, (moment - first) / (last - first)))
  const percent = (part: number) => `${100 * part}%`
  const extent = ({ from, to }: Band) => ({
    left: percent(share(from)),
    width: percent(share(to) - share(from)),
  })
  function moveTo({ currentTarget, clientX, buttons }: PointerEvent & { currentTarget: Element }) {
    if (buttons !== 1) return
    const { left, width } = currentTarget.getBoundingClientRect()
    const part = Math.max(0, Math.min(1, (clientX - left) / width))
    onMove(first + part * (last - first))
  }
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
        aria-valuetext={shownClock(at)}
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
        <span class="time-cursor" style={{ left: percent(share(at)) }} />
      </div>
    </div>
  )
}
