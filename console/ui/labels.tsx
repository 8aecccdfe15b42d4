import { Isolated } from './isolated.tsx'

/** The labels of a device. */
export function Labels({ of: labels }: { of: readonly string[] }) {
  if (labels.length === 0) return null
  return (
    <ul class="labels row" aria-label="Labels">
      {labels.map((label) => (
        <li key={label}>
          <Isolated class="label one-line">{label}</Isolated>
        </li>
      ))}
    </ul>
  )
}
