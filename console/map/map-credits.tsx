import { shownCredit } from './layers.ts'
import { worldState } from './open-map.ts'

const WORLD_CREDITS = ['Natural Earth', 'GeoNames (CC BY 4.0)']
const OPENSTREETMAP = 'OpenStreetMap'

/** The sources of the map's data. OpenStreetMap requires a link to its licence. */
export function MapCredits() {
  const credits = [...(worldState.value === 'shown' ? WORLD_CREDITS : []), shownCredit.value ?? []]
  return (
    <p class="map-credits note">
      {credits
        .flat()
        .join(' · ')
        .split(new RegExp(`(${OPENSTREETMAP})`))
        .map((text) =>
          text === OPENSTREETMAP ? (
            <a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noreferrer">
              {text}
            </a>
          ) : (
            text
          ),
        )}
    </p>
  )
}
