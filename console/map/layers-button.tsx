import { useId, useRef } from 'preact/hooks'
import { Layers } from 'lucide'
import { Icon } from '../ui/icon.tsx'
import { offered, showLayer, shownLayerName, WORLD } from './layers.ts'

/** Chooses what a map shows; `id` is that of the choice, for other buttons that open it. */
export function LayersButton({ id }: { id: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const layers = [{ name: WORLD, seenBy: null }, ...(offered.value ?? [])]

  /** Below the button, or as far down as there is room, whichever way the choice was opened. */
  function place({ currentTarget: choice }: { currentTarget: HTMLElement }) {
    const { bottom = 0, right = 0 } = button.current?.getBoundingClientRect() ?? {}
    const { clientWidth, clientHeight } = document.documentElement
    const lowest = clientHeight - choice.offsetHeight - 6
    choice.style.top = `${Math.max(6, Math.min(bottom + 6, lowest))}px`
    choice.style.right = `${clientWidth - right}px`
  }

  return (
    <>
      <button ref={button} type="button" aria-label="Layers" title="Layers" popovertarget={id}>
        <Icon of={Layers} />
      </button>
      <div id={id} class="layers raised" popover="auto" onToggle={place}>
        <fieldset class="stack near">
          <legend>Layers</legend>
          {layers.map(({ name, seenBy }) => (
            <LayerChoice key={name} name={name} seenBy={seenBy} />
          ))}
        </fieldset>
      </div>
    </>
  )
}

function LayerChoice({ name, seenBy }: { name: string; seenBy: string | null }) {
  const hint = useId()
  return (
    <div>
      <label class="check">
        <input
          type="radio"
          name="layer"
          checked={name === shownLayerName.value}
          onChange={() => showLayer(name)}
          {...(seenBy !== null && { 'aria-describedby': hint })}
        />
        {name}
      </label>
      {seenBy !== null && (
        <p id={hint} class="note">
          {seenBy} sees which area you look at.
        </p>
      )}
    </div>
  )
}
