import './ui/style/tokens.css'
import './ui/style/base.css'
import './ui/style/layout.css'
import './ui/style/controls.css'
import './app/frame.css'
import './ui/style/page.css'
import './ui/style/overlays.css'
import './ui/style/table.css'
import './ui/style/print.css'
import { render } from 'preact'
import { serverNow } from './api/client.ts'
import { startSession } from './live/session.ts'
import { App, startFailure } from './app/app.tsx'
import { startClock } from './ui/clock.ts'
import { applyTheme } from './ui/palette.ts'
import { startRouter } from './ui/router.ts'
import { startKeys } from './ui/keys.tsx'
import { startMenus } from './ui/menu.tsx'
import { toFailure } from './core/failure.ts'

allowMeasuringText()
applyTheme()
startRouter()
startKeys()
startMenus()
startClock(serverNow)
const root = document.getElementById('console')
if (root !== null) render(<App />, root)
startSession().catch((thrown: unknown) => (startFailure.value = toFailure(thrown)))

type Policies = {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string; createScriptURL(url: string): string },
  ): unknown
}

/**
 * The page's policy lets no text become markup, except the `M` with which OpenLayers measures a
 * line's height. Workers are scripts of the console.
 */
function allowMeasuringText(): void {
  const { trustedTypes } = window as { trustedTypes?: Policies }
  trustedTypes?.createPolicy('default', {
    createHTML(text) {
      if (text === 'M' || text === '') return text
      throw new TypeError('text must not become markup')
    },
    // The worker that reads histories: the rest of the policy allows only scripts of this origin.
    createScriptURL(url) {
      if (new URL(url, location.href).origin === location.origin) return url
      throw new TypeError('scripts come from this origin')
    },
  })
}
