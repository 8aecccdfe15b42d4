import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { LocateFixed, Pause, Play } from 'lucide'
import { formatAgain, momentOf, normalizeMoment } from '../../core/moment.ts'
import { REPLAY_SPEEDS, replaySpeed, skipRest } from '../../core/replay.ts'
import { date } from '../../core/times.ts'
import { Select } from '../../ui/choice-fields.tsx'
import { IconButton } from '../../ui/icon.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { formatClock } from '../../ui/shown.ts'

type Drive = { readonly from: number; readonly to: number }

const SKIP_SHOWN_MS = 3_000
/** How much of the path behind it a replay draws: in milliseconds of recorded time. */
const TAIL_MS = 8_000

/** Moves the time cursor by itself, except while nothing moves, or to a typed time. */
export function Replay({
  first,
  last,
  at,
  zone,
  drives,
  isFollowing,
  isAlone,
  onMove,
  onFollow,
  onPlay,
  children,
}: {
  first: number
  last: number
  at: number
  zone: string
  /** All trips in the replay. */
  drives: readonly Drive[]
  isFollowing: boolean
  /**
   * Whether this is the only device in the replay; with several, the map follows none of them.
   */
  isAlone: boolean
  onMove: (at: number) => void
  onFollow: (isFollowing: boolean) => void
  /**
   * Called with the length of the tail behind the marker, or undefined once the replay has stopped.
   */
  onPlay: (tailMs: number | undefined) => void
  children: ComponentChildren
}) {
  const [isPlaying, setPlaying] = useState(false)
  const [chosen, setSpeed] = useState<number>()
  const speed = chosen ?? replaySpeed(drives)
  const [skipped, setSkipped] = useState<number>()
  const cursor = useRef(at)
  cursor.current = at
  /**
   * Returns the time at which the replay continues, or its end; a day without trips is played in
   * full.
   */
  const skip = (moment: number) =>
    drives.length === 0 ? moment : Math.min(last, skipRest(drives, moment))
  useEffect(() => onPlay(isPlaying ? speed * TAIL_MS : undefined), [isPlaying, speed])
  useEffect(() => {
    if (skipped === undefined) return undefined
    const timer = setTimeout(() => setSkipped(undefined), SKIP_SHOWN_MS)
    return () => clearTimeout(timer)
  }, [skipped])

  useEffect(() => {
    if (!isPlaying) return undefined
    let frame = 0
    let before = performance.now()
    const step = (now: number) => {
      const moved = cursor.current + (now - before) * speed
      const next = skip(moved)
      if (next > moved && next < last) setSkipped(next)
      before = now
      cursor.current = next
      onMove(Math.min(next, last))
      if (next >= last) {
        setPlaying(false)
        onFollow(false)
      } else frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, speed, last, drives])

  function toggle() {
    if (!isPlaying && skip(at) >= last) {
      cursor.current = first
      onMove(first)
    }
    setPlaying(!isPlaying)
    onFollow(!isPlaying && isAlone)
  }

  return (
    <div class="replay row" role="group" aria-label="Replay">
      <IconButton
        icon={isPlaying ? Pause : Play}
        label={isPlaying ? 'Pause' : 'Play'}
        small
        onClick={toggle}
      />
      <Select
        aria-label="Replay speed"
        options={REPLAY_SPEEDS.map((one) => [String(one), `${one}×`])}
        value={String(speed)}
        onChange={(next) => setSpeed(Number(next))}
      />
      <TimeField at={at} zone={zone} onMove={onMove} />
      <IconButton
        icon={LocateFixed}
        label="Follow the replay"
        small
        aria-pressed={isFollowing}
        onClick={() => onFollow(!isFollowing)}
      />
      {children}
      <span class="note" role="status">
        {skipped !== undefined && `▶▶ to ${formatClock(skipped, { hasSeconds: false })}`}
      </span>
    </div>
  )
}

/**
 * The cursor's time of day, displayed and editable (14:05, 2:05 pm); Enter, or leaving the field,
 * goes there.
 */
function TimeField({
  at,
  zone,
  onMove,
}: {
  at: number
  zone: string
  onMove: (at: number) => void
}) {
  const [typed, setTyped] = useState<string>()
  const shown = formatClock(at) + formatAgain(at, zone)
  function goThere() {
    const moment = momentOf(normalizeMoment(typed ?? ''), date(at, zone), zone)
    if (moment !== undefined && typed !== shown) onMove(moment)
    setTyped(undefined)
  }
  const field = useRef<HTMLInputElement>(null)
  useKeys(
    { Enter: { label: 'Go to the time', run: goThere } },
    { title: 'In the time field', element: field },
  )
  return (
    <input
      ref={field}
      class="time-field"
      type="text"
      size={shown.length}
      autoComplete="off"
      spellcheck={false}
      aria-label="Go to a time"
      value={typed ?? shown}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={goThere}
    />
  )
}
