/** Whether all of the devices are to have a label, or none. */
export type LabelChoice = 'all' | 'none'

/** The labels to add and to remove, so that each choice holds; what holds already is left out. */
export function labelChanges(
  devices: readonly { readonly labels: readonly string[] }[],
  choices: ReadonlyMap<string, LabelChoice>,
): { readonly add: string[]; readonly remove: string[] } {
  const has = (label: string) => devices.filter(({ labels }) => labels.includes(label)).length
  const chosen = (wanted: LabelChoice) =>
    [...choices].filter(([, choice]) => choice === wanted).map(([label]) => label)
  return {
    add: chosen('all').filter((label) => has(label) < devices.length),
    remove: chosen('none').filter((label) => has(label) > 0),
  }
}

export function inChunks<T>(items: readonly T[], length: number): readonly T[][] {
  const count = Math.ceil(items.length / length)
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  )
}
