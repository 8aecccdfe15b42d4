import { useLayoutEffect, useRef } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { coordinatesText } from '../../core/measures.ts'
import { may } from '../../live/session.ts'
import { pixelToPosition } from '../../map/open-map.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { usePlace } from '../device/use-place.ts'
import { SPOT_ACTIONS, type Pin } from './pin.ts'

/** Location of the open menu: in pixels of the window, and on the map. */
export type OpenSpot = { readonly x: number; readonly y: number; readonly at: Pin }

const EDGE_PIXELS = 8

/**
 * A menu of actions for a place on the map. Esc, a press elsewhere and losing the focus close it.
 */
export function SpotMenu({ of: { x, y, at }, onClose }: { of: OpenSpot; onClose: () => void }) {
  const menu = useRef<HTMLDivElement>(null)
  const place = usePlace(at)
  useKeys(
    {
      Escape: { label: 'Close the menu', run: onClose },
      ArrowDown: { label: 'Next or previous action', run: () => step(1) },
      ArrowUp: { label: 'Next or previous action', run: () => step(-1) },
    },
    { title: 'In the menu of the map', element: menu },
  )
  useLayoutEffect(() => {
    const element = menu.current
    if (element === null) return undefined
    const before = document.activeElement
    // Not `auto`: the release of the button that has opened it would close it.
    element.showPopover()
    step(1)
    const close = ({ target }: Event) => {
      if (!(target instanceof Node && element.contains(target))) onClose()
    }
    document.addEventListener('pointerdown', close, { capture: true })
    document.addEventListener('focusin', close)
    document.addEventListener('wheel', close, { capture: true, passive: true })
    return () => {
      document.removeEventListener('pointerdown', close, { capture: true })
      document.removeEventListener('focusin', close)
      document.removeEventListener('wheel', close, { capture: true })
      const hadFocus = element.contains(document.activeElement)
      if (hadFocus && before instanceof HTMLElement) before.focus()
    }
  }, [x, y])

  // The place name may widen the menu.
  useLayoutEffect(() => {
    const { clientWidth, clientHeight } = document.documentElement
    const { offsetWidth = 0, offsetHeight = 0, style } = menu.current ?? {}
    if (style === undefined) return
    style.left = `${Math.max(EDGE_PIXELS, Math.min(x, clientWidth - offsetWidth - EDGE_PIXELS))}px`
    style.top = `${Math.max(EDGE_PIXELS, Math.min(y, clientHeight - offsetHeight - EDGE_PIXELS))}px`
  }, [x, y, place])

  function step(by: number): void {
    const actions = [...(menu.current?.querySelectorAll('button') ?? [])]
    const here = actions.findIndex((action) => action === document.activeElement)
    actions.at((here + by) % actions.length)?.focus()
  }

  return (
    <div
      ref={menu}
      class="menu floating menu-links"
      popover="manual"
      role="group"
      aria-label="This place"
    >
      <p class="note">
        <Isolated class="one-line">{place ?? coordinatesText(at)}</Isolated>
      </p>
      {SPOT_ACTIONS.map(({ word, right, run }) =>
        right && !may(right) ? null : (
          <button
            key={word}
            type="button"
            class="plain"
            onClick={() => {
              onClose()
              run({ ...at, name: place })
            }}
          >
            {word}
          </button>
        ),
      )}
    </div>
  )
}

const HOLD_MS = 550
const STILL_PIXELS = 10

/**
 * Calls `open` for a right click, a long press, and the menu key, which opens the menu at the map's
 * centre.
 */
export function onSpotMenu(map: OlMap, open: (spot: OpenSpot) => void): void {
  const target = map.getTargetElement() as HTMLElement
  let timer: ReturnType<typeof setTimeout> | undefined
  let isHeld = false
  const openAt = (event: MouseEvent) => {
    const { clientX: x, clientY: y } = event
    open({ x, y, at: pixelToPin(map, map.getEventPixel(event)) })
  }
  target.addEventListener('contextmenu', (event) => {
    event.preventDefault()
    // Touch screens send this event in addition to the long press.
    const { pointerType } = event
    if (pointerType === 'touch') return
    if (event.button === 2 || pointerType === 'mouse') openAt(event)
    else open(middleSpot(map))
  })
  target.addEventListener('pointerdown', (event) => {
    clearTimeout(timer)
    isHeld = false
    if (event.pointerType !== 'touch' || !event.isPrimary) return
    const ending = new AbortController()
    const end = () => {
      clearTimeout(timer)
      ending.abort()
    }
    timer = setTimeout(() => {
      end()
      isHeld = true
      openAt(event)
    }, HOLD_MS)
    const { signal } = ending
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (Math.hypot(clientX - event.clientX, clientY - event.clientY) > STILL_PIXELS) end()
    }
    target.addEventListener('pointermove', move, { signal })
    for (const name of ['pointerup', 'pointercancel'])
      target.addEventListener(name, end, { signal })
  })
  // Otherwise the released finger would click the map, which then takes the focus.
  target.addEventListener('touchend', (event) => isHeld && event.preventDefault())
  map.on('click', (event) => !isHeld || event.stopPropagation())
}

/** The spot in the middle of the map, for keys. */
export function middleSpot(map: OlMap): OpenSpot {
  const [width = 0, height = 0] = map.getSize() ?? []
  const { left, top } = (map.getTargetElement() as HTMLElement).getBoundingClientRect()
  const pixel = [width / 2, height / 2]
  return { x: left + width / 2, y: top + height / 2, at: pixelToPin(map, pixel) }
}

function pixelToPin(map: OlMap, pixel: readonly number[]): Pin {
  const { latitude, longitude } = pixelToPosition(map, pixel)
  return { latitude, longitude: longitude - 360 * Math.floor((longitude + 180) / 360) }
}
