import { useKeys } from './keys.tsx'
import { undoLatest } from './toasts.tsx'

/** "Undo" by key, because the button of a toast is far from where the hands are. */
export function UndoKey() {
  return undoLatest.value && <Key run={undoLatest.value} />
}

function Key({ run }: { run: () => void }) {
  useKeys({ z: { label: 'Undo the last change', run } })
  return null
}
