import { speedIn } from '../../core/measures.ts'
import { SPEED_COLOURS } from '../../map/speed-scale.ts'
import { shownNumber, shownSpeed, shownUnits } from '../../ui/shown.ts'

/** The colours of a track, and the speed from which each is used. */
export function SpeedLegend({ step }: { step: number }) {
  return (
    <ol class="speed-legend note" aria-label="Colours of the track, by speed">
      {SPEED_COLOURS.map((colour, index) => (
        <li key={colour}>
          <span class="speed-colour" style={{ backgroundColor: colour }} />
          {index === SPEED_COLOURS.length - 1
            ? `${shownSpeed(index * step)} +`
            : shownNumber(speedIn(shownUnits().speed, index * step))}
        </li>
      ))}
    </ol>
  )
}
