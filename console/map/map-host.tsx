import 'ol/ol.css'
import './map.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Layers, Minus, Plus } from 'lucide'
import type OlMap from 'ol/Map.js'
import { Icon, IconButton } from '../ui/icon.tsx'
import { useKeys, type KeyActions } from '../ui/keys.tsx'
import { palette } from '../ui/palette.ts'
import { offeredLayers, showLayer, shownLayerName, WORLD, streetsToAskFor } from './layers.ts'
import { MapFoot } from './map-foot.tsx'
import { openMap, panBy, zoomBy, worldState } from './open-map.ts'

/**
 * Renders a world map with buttons, scale and credits.
 *
 * @param open adds a painter to the new map; `paint` is called with it whenever one of `inputs` or
 * the colours have changed, and `leave` before the map is closed.
 */
export function MapHost<P>({
  label,
  class: name = '',
  inputs,
  open,
  paint,
  leave,
  onPan,
  keys = {},
  children,
  areNamesAbove = false,
  legend,
}: {
  /** Label for screen readers. */
  label: string
  class?: string
  inputs: readonly unknown[]
  open: (map: OlMap) => P
  paint: (map: OlMap, painter: P) => void
  leave?: (map: OlMap) => void
  /** Called when keys move the map. */
  onPan?: () => void
  /** Additional keys, which work while the map has the focus. */
  keys?: KeyActions
  /** Whether place names are drawn above a canvas with `isBelowNames`. */
  areNamesAbove?: boolean
  /** Additional buttons. */
  children?: ComponentChildren
  legend?: ComponentChildren
}) {
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; painter: P }>(null)
  const [opened, setOpened] = useState<OlMap>()
  const layersId = useId()
  const onMap = (label: string, run: (map: OlMap) => void) => ({
    label,
    run: () => opened && run(opened),
  })
  const pan = (east: number, north: number) =>
    onMap('Move the map', (map) => {
      onPan?.()
      panBy(map, east, north)
    })
  useKeys(
    {
      ArrowLeft: pan(-1, 0),
      ArrowUp: pan(0, 1),
      ArrowRight: pan(1, 0),
      ArrowDown: pan(0, -1),
      '+': onMap('Zoom in or out', (map) => zoomBy(map, 1)),
      '-': onMap('Zoom in or out', (map) => zoomBy(map, -1)),
      ...keys,
    },
    { title: 'On the map', element: target },
  )
  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current, { areNamesAbove })
    map.updateSize()
    shown.current = { map, painter: open(map) }
    setOpened(map)
    return () => {
      leave?.(map)
      close()
    }
  }, [])
  useEffect(() => {
    if (shown.current !== null) paint(shown.current.map, shown.current.painter)
  }, [palette.value, ...inputs])
  return (
    <div class={`map ${name}`}>
      <div ref={target} class="map-target" tabIndex={0} role="application" aria-label={label} />
      <MapButtons map={opened}>
        {children}
        <LayersButton id={layersId} />
      </MapButtons>
      <AskForStreets />
      <MapFoot map={opened} layersId={layersId}>
        {legend}
      </MapFoot>
    </div>
  )
}

/** Buttons over a map: zoom, and below them the map's other functions. */
function MapButtons({ map, children }: { map: OlMap | undefined; children?: ComponentChildren }) {
  return (
    <div class="map-buttons stack near">
      <div class="map-group">
        <IconButton icon={Plus} label="Zoom in" onClick={() => map && zoomBy(map, 1)} />
        <IconButton icon={Minus} label="Zoom out" onClick={() => map && zoomBy(map, -1)} />
      </div>
      {children}
    </div>
  )
}

/** The chooser of a map's layer; other buttons open it by its `id`. */
function LayersButton({ id }: { id: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const layers = [{ name: WORLD, seenBy: null }, ...(offeredLayers.value ?? [])]

  /**
   * Places the chooser below its button, or as far down as fits; another button may have opened it.
   */
  function placeChoice({ currentTarget: choice }: { currentTarget: HTMLElement }) {
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
      <div id={id} class="layers floating" popover="auto" onToggle={placeChoice}>
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

/**
 * Asks once whether to load streets, because their provider then sees the viewed area; not over the
 * note that there is no base map.
 */
function AskForStreets() {
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

/** `openstreetmap.org`: the site to ask, without the name of one of its servers. */
function providerOf({ url, seenBy }: { url: string; seenBy: string | null }): string {
  const host = /^https?:\/\/([^/:]+)/.exec(url)?.[1]
  return host?.split('.').slice(-2).join('.') ?? seenBy ?? 'another server'
}
