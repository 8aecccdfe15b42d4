import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** The filters of a list. On a phone they are folded, unless one is set: the list matters more. */
export function Filters({
  label,
  isUsed,
  children,
}: {
  /** For screen readers. */
  label: string
  isUsed: boolean
  children: ComponentChildren
}) {
  const [isOpen] = useState(() => isUsed || matchMedia('(width >= 45rem)').matches)
  return (
    <details class="filter-fold" open={isOpen}>
      <summary>Filter</summary>
      <div class="filters" role="search" aria-label={label}>
        {children}
      </div>
    </details>
  )
}
