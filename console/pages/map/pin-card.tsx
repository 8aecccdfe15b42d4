import { MapPin, X } from 'lucide'
import { coordinatesText } from '../../core/measures.ts'
import { may } from '../../live/session.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Icon, IconButton } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { usePlace } from '../device/use-place.ts'
import { selectedId } from './map-state.ts'
import { pin, removePin, setPin, SPOT_ACTIONS, type Pin } from './pin.ts'

/** Shows the pin that the list is sorted around; beside a selected device, only the pin's name. */
export function PinCard() {
  return pin.value === undefined ? null : <Card at={pin.value} />
}

function Card({ at }: { at: Pin }) {
  const place = usePlace(at)
  const coordinates = coordinatesText(at)
  const name = at.name ?? place
  return (
    <section class="selected-card stack near" aria-label="Chosen place">
      <header>
        <Icon of={MapPin} />
        <h2 class="two-lines">
          <Isolated>{name ?? coordinates}</Isolated>
        </h2>
        <span />
        <IconButton icon={X} label="Remove the pin" small class="plain" onClick={removePin} />
      </header>
      {selectedId.value === undefined && (
        <>
          <p class="row between">
            <code>{coordinates}</code> <CopyButton text={coordinates} what="coordinates" />
          </p>
          <p class="note">The nearest devices come first, by straight distance.</p>
          <div class="row">
            {SPOT_ACTIONS.map(({ word, right, run }) =>
              run === setPin || (right && !may(right)) ? null : (
                <button key={word} type="button" onClick={() => run({ ...at, name })}>
                  {word}
                </button>
              ),
            )}
          </div>
        </>
      )}
    </section>
  )
}
