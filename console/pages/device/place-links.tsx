import { coordinatesText } from '../../core/measures.ts'
import { CopyButton } from '../../ui/copy-button.tsx'

type Place = { readonly latitude: number; readonly longitude: number }

/** Coordinates, to copy, and to open in other maps. */
export function PlaceLinks({ place }: { place: Place }) {
  const coordinates = coordinatesText(place)
  return (
    <div class="stack tight">
      <p class="row between">
        <code>{coordinates}</code>
        <CopyButton text={coordinates} what="coordinates" />
      </p>
      <p class="row note">
        Open in
        {linksTo(place).map(([where, href]) => (
          <a
            key={where}
            href={href}
            aria-label={`Open in ${where}`}
            target={href.startsWith('https:') ? '_blank' : undefined}
            rel="noreferrer"
            data-outside
          >
            {where}
          </a>
        ))}
      </p>
    </div>
  )
}

function linksTo({ latitude, longitude }: Place): readonly (readonly [string, string])[] {
  const osm = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
  return [
    ['OpenStreetMap', `${osm}#map=17/${latitude}/${longitude}`],
    ['Google Maps', `https://www.google.com/maps/search/?api=1&query=${latitude},${longitude}`],
    ['an app', `geo:${latitude},${longitude}`],
  ]
}
