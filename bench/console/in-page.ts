import { KEEP_PAINTED } from '../../test/console/browser/painted.ts'

/**
 * Runs in a page before its own scripts, as `window.bench`: counts frames, and tells when canvases
 * have something on them. All times are `performance.now()` of the page.
 */
export const IN_PAGE = `${KEEP_PAINTED}
window.bench = (() => {
  let isCounting = false
  let frames = []

  function everyFrame(look) {
    const frame = (now) => {
      if (look(now) !== 'enough') requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  }

  function isPainted(selector) {
    const canvas = document.querySelector(selector)
    if (canvas === null || canvas.width === 0) return false
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Uint32Array(data.buffer).some((pixel) => pixel !== 0)
  }

  return {
    count() {
      isCounting = true
      frames = []
      let before
      everyFrame((now) => {
        if (before !== undefined) frames.push(now - before)
        before = now
        return isCounting ? 'more' : 'enough'
      })
    },
    counted() {
      isCounting = false
      return frames
    },
    /** When each of the canvases has something on it. */
    painted: (selectors) =>
      new Promise((resolve) => {
        const missing = new Set(selectors)
        everyFrame(() => {
          for (const selector of missing) if (isPainted(selector)) missing.delete(selector)
          if (missing.size > 0) return 'more'
          resolve(performance.now())
          return 'enough'
        })
      }),
  }
})()`
