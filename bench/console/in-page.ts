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

  // Looking at a million pixels in every frame takes most of the page's time, so they are looked at
  // where something has been drawn since.
  const DRAWING = ['fill', 'stroke', 'fillRect', 'fillText', 'strokeText', 'drawImage', 'putImageData']
  let unchanged = new WeakSet()

  function noticeDrawing() {
    const prototype = CanvasRenderingContext2D.prototype
    const before = DRAWING.map((name) => [name, prototype[name]])
    for (const [name, draw] of before) {
      prototype[name] = function (...given) {
        unchanged.delete(this.canvas)
        return draw.apply(this, given)
      }
    }
    return () => before.forEach(([name, draw]) => (prototype[name] = draw))
  }

  function isPainted(canvas) {
    if (canvas.width === 0 || unchanged.has(canvas)) return false
    unchanged.add(canvas)
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    for (const pixel of new Uint32Array(data.buffer)) if (pixel !== 0) return true
    return false
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
        const ignoreDrawing = noticeDrawing()
        unchanged = new WeakSet()
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
          ignoreDrawing()
          resolve(performance.now())
          return 'enough'
        })
      }),
  }
})()`
