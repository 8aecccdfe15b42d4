import { useId } from 'preact/hooks'
import { showLayer, streetsToAskFor, WORLD } from './layers.ts'
import { worldState } from './open-map.ts'

/**
 * Asks once whether to load streets, because their provider then sees the viewed area; not over the
 * note that there is no base map.
 */
export function AskForStreets() {
  const title = useId()
  const streets = streetsToAskFor.value
  if (streets === undefined || worldState.value !== 'shown') return null
  return (
    <section class="ask-for-streets over-map floating stack near" aria-labelledby={title}>
      <div class="stack near">
        <h2 id={title}>Show streets?</h2>{' '}
        <p class="quiet">
          They come from {providerOf(streets)}, which then sees which area you look at.
        </p>
      </div>
      <div class="row">
        <button type="button" class="primary" onClick={() => showLayer(streets.name)}>
          Show streets
        </button>
        <button type="button" onClick={() => showLayer(WORLD)}>
          Stay offline
        </button>
      </div>
    </section>
  )
}

/** `openstreetmap.org`: the site that is asked, without the name of one of its servers. */
function providerOf({ url, seenBy }: { url: string; seenBy: string | null }): string {
  const host = /^https?:\/\/([^/:]+)/.exec(url)?.[1]
  return host?.split('.').slice(-2).join('.') ?? seenBy ?? 'another server'
}
