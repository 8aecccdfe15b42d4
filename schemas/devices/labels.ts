/** Maximum number of labels per device; operators group devices by these flat texts. */
export const MOST_LABELS = 16
export const LONGEST_LABEL = 64

/** Labels to add to devices and to remove from them. */
export type LabelChange = { readonly add: readonly string[]; readonly remove: readonly string[] }

/** Each label once, in display order. */
export function sortLabels(labels: readonly string[]): readonly string[] {
  return [...new Set(labels)].sort()
}

/** The labels after a change; `labels` itself if the change makes no difference. */
export function applyLabelChange(
  labels: readonly string[],
  { add, remove }: LabelChange,
): readonly string[] {
  const left = labels.filter((label) => !remove.includes(label))
  const changed = sortLabels([...left, ...add])
  const isSame = changed.length === labels.length && changed.every((one) => labels.includes(one))
  return isSame ? labels : changed
}
