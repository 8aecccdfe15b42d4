import { credits } from './open-map.ts'

const OPENSTREETMAP = 'OpenStreetMap'

/** The sources of the map's data. OpenStreetMap requires a link to its licence. */
export function MapCredits() {
  return (
    <p class="map-credits note">
      {credits.value
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
