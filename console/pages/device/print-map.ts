import type OlMap from 'ol/Map.js'

/** The height of an A4 page between its margins, in pixels of CSS. */
const PAPER_HEIGHT = 1_040

/**
 * Fits a map to the paper before printing, and back to the window afterwards; a long list of trips
 * is shrunk until a day fits on one page. Returns a function that ends this.
 */
export function printMap(map: OlMap, fit: () => void): () => void {
  const root = document.documentElement
  let center: number[] | undefined
  let resolution: number | undefined
  function toPaper() {
    const view = map.getView()
    center = view.getCenter()
    resolution = view.getResolution()
    root.classList.add('on-paper')
    const page = map.getTargetElement()?.closest('.device-page')
    const trips = page?.querySelector('.trips')?.scrollHeight ?? 0
    const room = PAPER_HEIGHT - (page?.scrollHeight ?? 0) + trips
    root.style.setProperty('--paper-zoom', String(trips > room ? room / trips : 1))
    map.updateSize()
    fit()
    map.renderSync()
  }
  function toWindow() {
    root.classList.remove('on-paper')
    map.updateSize()
    if (center !== undefined) map.getView().setCenter(center)
    if (resolution !== undefined) map.getView().setResolution(resolution)
  }
  addEventListener('beforeprint', toPaper)
  addEventListener('afterprint', toWindow)
  return () => {
    removeEventListener('beforeprint', toPaper)
    removeEventListener('afterprint', toWindow)
  }
}
