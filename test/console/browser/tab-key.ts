import type { Page, Request } from 'playwright-core'

/**
 * Watches the page's calls. The returned function waits until every response but the live stream's has come and is
 * drawn.
 */
export function watchCalls(page: Page): () => Promise<void> {
  const awaited = new Set<Request>()
  page.on('request', (request) => {
    if (/\/api\/v1\/(?!(shared\/)?stream)/.test(request.url())) awaited.add(request)
  })
  page.on('requestfinished', (request) => awaited.delete(request))
  page.on('requestfailed', (request) => awaited.delete(request))
  return async () => {
    for (let calm = 0; calm < 3; calm = awaited.size === 0 ? calm + 1 : 0) {
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
    }
  }
}

/**
 * Presses Tab from the top of the page or of the part, or from the opener of the open menu, to its end, and
 * returns what is wrong: controls that are not reached, come out of order, do not show the focus, or are
 * covered by something else.
 */
export async function tabThrough(page: Page, part = 'body'): Promise<string[]> {
  await page.evaluate(`(${WALK})('${part}')`)
  do await page.keyboard.press('Tab')
  while (await page.evaluate<boolean>('walk.step()'))
  return page.evaluate<string[]>('walk.faults()')
}

/**
 * Names the buttons of the page, or of the open menu, that a finger misses: smaller than 24 × 24 CSS
 * pixels and too near to another one (WCAG 2.5.8), or smaller than 40 over a map or in a phone's bar.
 * The days of a strip or year may be small: the date field chooses them too.
 */
export function smallButtons(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(SMALL)
}

/** Runs in the page. */
const SMALL = `(() => {
  const controls = 'a[href]:not(.skip, p a), button:not(.day-strip *), input, select, summary'
  const targets = [...(document.querySelector(':popover-open') ?? document).querySelectorAll(controls)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => {
      const { left, top, right, bottom, width, height } =
        (one.closest('label') ?? one).getBoundingClientRect()
      const [x, y] = [(left + right) / 2, (top + bottom) / 2]
      // Layouts have fractions of a pixel.
      return { one, left, top, right, bottom, x, y, side: Math.min(width, height) + 0.05 }
    })
  const between = (value, from, to) => Math.max(from, Math.min(value, to))
  const isNear = ({ x, y }, other) =>
    (other.side < 24 && Math.hypot(other.x - x, other.y - y) < 24) ||
    Math.hypot(between(x, other.left, other.right) - x, between(y, other.top, other.bottom) - y) < 12
  return targets
    .filter((target) =>
      target.one.matches('.map-buttons button, .bar nav > *')
        ? target.side < 40
        : target.side < 24 && targets.some((other) => other !== target && isNear(target, other)))
    .map(({ one, side }) => one.outerHTML.slice(0, 90) + ': ' + side)
})()`

/** Runs in the page. */
const WALK = `(part) => {
  const menu = document.querySelector(':popover-open')
  const scope = menu ?? document.querySelector(part) ?? document.body
  const reached = new Set()
  const found = []
  let last

  const nameOf = (one) =>
    one.localName + ' "' + (one.ariaLabel || one.labels?.[0]?.textContent || one.textContent).trim() + '"'
  const lookOf = (one) => {
    const { outline, outlineStyle, boxShadow, stroke, strokeWidth } = getComputedStyle(one)
    return [outlineStyle === 'none' ? '' : outline, boxShadow, stroke, strokeWidth].join()
  }
  const isCovered = (one) => {
    const [{ left, top, width, height }] = one.getClientRects()
    return [0.5, 0.1, 0.9].every((part) => {
      const seen = document.elementFromPoint(left + width * part, top + height * part)
      return seen === null || !(one.contains(seen) || seen.contains(one) && seen.closest('label'))
    })
  }
  const partOf = (one) => one.closest('section, nav, main, header, [role="group"], [popover]')
  /** Above the one before, or in its line but left of it. */
  const isBack = (one, before) => {
    if (partOf(one) !== partOf(before)) return false
    const [to, from] = [one.getBoundingClientRect(), before.getBoundingClientRect()]
    return to.bottom <= from.top
      ? to.left < from.right
      : to.top < from.bottom && to.right <= from.left
  }
  /** Tab reaches one radio button of a group, and one control of a list that arrows go through. */
  const isReachedByArrows = (one) => {
    const group = one.closest('ul, ol, svg')
    const others = [...reached].filter((other) => other.localName === one.localName)
    return one.type === 'radio'
      ? others.some(({ name }) => name === one.name)
      : one.tabIndex < 0 && others.filter((other) => group?.contains(other)).length === 1
  }

  if (menu === null) {
    const before = scope.getAttribute('tabindex')
    scope.tabIndex = -1
    scope.focus()
    if (before === null) scope.removeAttribute('tabindex')
  }
  window.walk = {
    step() {
      const { activeElement: one, body } = document
      if (one === last?.one) return true
      if (last?.one.isConnected) {
        const name = nameOf(last.one)
        if (last.look === lookOf(last.one)) found.push('no visible focus: ' + name)
      }
      if (one === body || reached.has(one) || !scope.contains(one)) return false
      if (last?.one.isConnected) {
        const order = last.one.compareDocumentPosition(one)
        if (!(order & Node.DOCUMENT_POSITION_FOLLOWING) || isBack(one, last.one)) {
          found.push('out of order: ' + nameOf(one) + ' after ' + nameOf(last.one))
        }
      }
      if (isCovered(one)) found.push('covered: ' + nameOf(one))
      reached.add(one)
      last = { one, look: lookOf(one) }
      return true
    },
    faults() {
      const controls = 'a[href], button, input, select, textarea, summary, [role="button"], [tabindex="0"]'
      const missed = [...scope.querySelectorAll(controls)].filter((one) =>
        one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled') &&
        !reached.has(one) && !isReachedByArrows(one))
      if (menu?.matches(':popover-open')) {
        const isElsewhere = !document.activeElement.matches('body, [popovertarget="' + menu.id + '"]')
        if (isElsewhere) found.push('stays open')
        menu.hidePopover()
      }
      return [...found, ...missed.map((one) => 'not reached: ' + nameOf(one))]
    },
  }
}`
