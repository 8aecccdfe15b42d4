import type { IconNode } from 'lucide'
import { h } from 'preact'

/** A picture next to text that says the same, so it is hidden from screen readers. */
export function Icon({ of: parts, small = false }: { of: IconNode; small?: boolean }) {
  return (
    <svg class={small ? 'icon small' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
      {parts.map(([tag, attributes]) => h(tag, attributes as Record<string, string>))}
    </svg>
  )
}

/** A button with a picture instead of words; `label` says what it does. */
export function IconButton({
  icon,
  label,
  title = label,
  small = false,
  ...button
}: {
  icon: IconNode
  label: string
  title?: string
  small?: boolean
  class?: string
  disabled?: boolean
  'aria-pressed'?: boolean
  'data-fit-all'?: boolean
  onClick: () => void
}) {
  return (
    <button type="button" aria-label={label} title={title} {...button}>
      <Icon of={icon} small={small} />
    </button>
  )
}
