import 'ol/ol.css'
import './map.css'
import { useEffect, useRef } from 'preact/hooks'
import { openMap } from './open-map.ts'

/** The world map behind a page that needs no sign-in. */
export function WorldBackdrop() {
  const target = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current, { isBackdrop: true })
    map.updateSize()
    // The whole width of the world is in view.
    map.getView().setZoom(Math.max(1.5, Math.log2((map.getSize()?.[0] ?? 0) / 256)))
    return close
  }, [])
  return <div ref={target} class="world-backdrop" aria-hidden="true" />
}
