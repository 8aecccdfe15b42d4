import { useEffect, useRef, useState } from 'preact/hooks'
import { LocateFixed, Pause, Play } from 'lucide'
import { IconButton } from '../../ui/icon.tsx'
import { Select } from '../../ui/select-field.tsx'
import { TimeField } from './time-field.tsx'

const SPEEDS = [1, 10, 60, 180, 600]

/** Moves the time cursor by itself at up to 600 times the real speed, or to a typed time. */
export function Replay({
  first,
  last,
  at,
  zone,
  isFollowing,
  onMove,
  onFollow,
}: {
  first: number
  last: number
  at: number
  zone: string
  isFollowing: boolean
  onMove: (at: number) => void
  onFollow: (isFollowing: boolean) => void
}) {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(60)
  const cursor = useRef(at)
  cursor.current = at

  useEffect(() => {
    if (!isPlaying) return undefined
    let frame = 0
    let before = performance.now()
    const step = (now: number) => {
      const next = cursor.current + (now - before) * speed
      before = now
      cursor.current = next
      onMove(Math.min(next, last))
      if (next >= last) setPlaying(false)
      else frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, speed, last])

  function toggle() {
    if (!isPlaying && at >= last) onMove(first)
    setPlaying(!isPlaying)
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
        options={SPEEDS.map((one) => [String(one), `${one}×`])}
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
    </div>
  )
}
