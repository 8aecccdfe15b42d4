import type { IconNode } from 'lucide'
import { Icon } from './icon.tsx'

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
