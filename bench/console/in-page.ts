import { KEEP_PAINTED } from '../../test/console/browser/painted.ts'

/**
 * Runs in a page before its own scripts, as `window.bench`: counts frames, and reports when
 * canvases have something on them. All times are `performance.now()` of the page.
 */
export const IN_PAGE = `${KEEP_PAINTED}
window.bench = (() => {
  let frames = []

  function everyFrame(look) {
    const frame = (now) => {
      if (look(now) !== 'enough') requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  }

  // Small: looking at a million pixels in every frame would take most of the page's time.
  const sample = new OffscreenCanvas(320, 200).getContext('2d', { willReadFrequently: true })

  function isPainted(canvas) {
    if (canvas.width === 0) return false
    sample.clearRect(0, 0, 320, 200)
    sample.drawImage(canvas, 0, 0, 320, 200)
    return new Uint32Array(sample.getImageData(0, 0, 320, 200).data.buffer).some((pixel) => pixel !== 0)
  }

  return {
    /** As in a tab behind others: no frames. */
    hide() {
      Object.defineProperty(document, 'hidden', { get: () => true })
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
      window.requestAnimationFrame = () => 0
      document.dispatchEvent(new Event('visibilitychange'))
    },
    count() {
      const counted = []
      frames = counted
      let before
      everyFrame((now) => {
        if (before !== undefined) counted.push(now - before)
        before = now
        return frames === counted ? 'more' : 'enough'
      })
    },
    counted() {
      const counted = frames
      frames = []
      return counted
    },
    /** When each selector has a canvas with something on it; a map has canvases that stay empty, too. */
    painted: (selectors, withinMs) =>
      new Promise((resolve, reject) => {
        const missing = new Set(selectors)
        const patience = setTimeout(
          () => reject(new Error('nothing was painted on ' + [...missing].join(', '))),
          withinMs,
        )
        everyFrame(() => {
          for (const selector of missing) {
            if ([...document.querySelectorAll(selector)].some(isPainted)) missing.delete(selector)
          }
          if (missing.size > 0) return 'more'
          clearTimeout(patience)
          resolve(performance.now())
          return 'enough'
        })
      }),
  }
})()`
