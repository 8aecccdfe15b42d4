/** `all`: add the label to every device; `none`: remove it from every device. */
export type LabelChoice = 'all' | 'none'

export type ChosenLabels = { readonly add: string[]; readonly remove: string[] }
export type Labelled = { readonly deviceId: string; readonly labels: readonly string[] }

/** The labels to add and to remove for the choices; labels that need no change are omitted. */
export function labelChanges(
  devices: readonly { readonly labels: readonly string[] }[],
  choices: ReadonlyMap<string, LabelChoice>,
): ChosenLabels {
  const has = (label: string) => devices.filter(({ labels }) => labels.includes(label)).length
  const chosen = (wanted: LabelChoice) =>
    [...choices].filter(([, choice]) => choice === wanted).map(([label]) => label)
  return {
    add: chosen('all').filter((label) => has(label) < devices.length),
    remove: chosen('none').filter((label) => has(label) > 0),
  }
}

/**
 * The changes that undo `change`, each with its devices: a device loses only labels that were added
 * to it, and regains only labels that it had.
 */
export function undoLabels(
  before: readonly Labelled[],
  change: ChosenLabels,
): readonly (ChosenLabels & { readonly deviceIds: readonly string[] })[] {
  const undone = new Map<string, ChosenLabels & { readonly deviceIds: string[] }>()
  for (const { deviceId, labels } of before) {
    const remove = change.add.filter((label) => !labels.includes(label))
    const add = change.remove.filter((label) => labels.includes(label))
    if (remove.length + add.length === 0) continue
    const key = JSON.stringify([add, remove])
    const same = undone.get(key)
    if (same === undefined) undone.set(key, { add, remove, deviceIds: [deviceId] })
    else same.deviceIds.push(deviceId)
  }
  return [...undone.values()]
}

export function splitIntoChunks<T>(items: readonly T[], length: number): readonly T[][] {
  const count = Math.ceil(items.length / length)
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  )
}
