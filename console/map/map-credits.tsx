import { shownCredit } from './layers.ts'
import { worldState } from './open-map.ts'

const WORLD_CREDITS = 'Natural Earth · GeoNames'

/** The pages of the licences, to which their names lead. */
const LICENCES: Readonly<Record<string, string>> = {
  OpenStreetMap: 'https://www.openstreetmap.org/copyright',
  GeoNames: 'https://creativecommons.org/licenses/by/4.0/',
}
const NAMES = new RegExp(`(${Object.keys(LICENCES).join('|')})`)

/** The sources of the map's data; some require a link to their licence. */
export function MapCredits() {
  const credits = [worldState.value === 'shown' ? WORLD_CREDITS : [], shownCredit.value ?? []]
  return (
    <p class="map-credits note">
      {credits
        .flat()
        .join(' · ')
        .split(NAMES)
        .map((text) => {
          const href = LICENCES[text]
          if (href === undefined) return text
          return (
            <a href={href} target="_blank" rel="noreferrer">
              {text}
            </a>
          )
        })}
    </p>
  )
}
