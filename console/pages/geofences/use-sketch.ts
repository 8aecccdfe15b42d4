import { useRef, useState } from 'preact/hooks'
import type { Sketch } from '../../core/sketch.ts'

/** The sketch being drawn, and the steps that can be undone. */
export type Drawing = {
  readonly sketch: Sketch | undefined
  /** The corner selected for removal. */
  readonly marked: number | undefined
  readonly canUndo: boolean
  /** Starts another sketch. */
  readonly begin: (sketch: Sketch | undefined) => void
  /** Shows a sketch that `keep` turns into a step. */
  readonly show: (sketch: Sketch) => void
  readonly keep: () => void
  /** Shows a sketch as the next step. */
  readonly set: (sketch: Sketch) => void
  readonly undo: () => void
  readonly mark: (corner: number) => void
  /** Counts shapes entered as numbers, which the map then shows. */
  readonly typed: number
  readonly keepTyped: () => void
}

type State = {
  readonly shown: Sketch | undefined
  /** Undo steps; the last one is displayed, unless a corner is being dragged. */
  readonly kept: readonly (Sketch | undefined)[]
  readonly marked?: number
}

export function useSketch(first: () => Sketch | undefined): Drawing {
  const [state, setState] = useState<State>(() => stateOf(first()))
  // The pointer's events arrive faster than the page is rendered.
  const latest = useRef(state)
  const [typed, setTyped] = useState(0)
  const change = (next: State) => setState((latest.current = next))
  const { shown, kept, marked } = latest.current
  const set = (sketch: Sketch) => change({ shown: sketch, kept: [...latest.current.kept, sketch] })
  return {
    sketch: shown,
    marked,
    canUndo: kept.length > 1,
    begin: (sketch) => change(stateOf(sketch)),
    show: (sketch) => change({ shown: sketch, kept: latest.current.kept }),
    keep() {
      if (latest.current.shown !== undefined) set(latest.current.shown)
    },
    set,
    undo() {
      const before = latest.current.kept.slice(0, -1)
      if (before.length > 0) change({ shown: before.at(-1), kept: before })
    },
    mark: (corner) => change({ ...latest.current, marked: corner }),
    typed,
    keepTyped() {
      if (latest.current.shown !== undefined) set(latest.current.shown)
      setTyped(typed + 1)
    },
  }
}

function stateOf(sketch: Sketch | undefined): State {
  return { shown: sketch, kept: [sketch] }
}
