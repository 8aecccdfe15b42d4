import './ui/style/tokens.css'
import './ui/style/base.css'
import './ui/style/layout.css'
import './ui/style/controls.css'
import './app/frame.css'
import './ui/style/page.css'
import './ui/style/overlays.css'
import './ui/style/table.css'
import { render } from 'preact'
import { serverNow } from './api/client.ts'
import { startSession } from './live/session.ts'
import { App, startFailure } from './app/app.tsx'
import { startClock } from './ui/clock.ts'
import { applyTheme } from './ui/palette.ts'
import { startRouter } from './ui/router.ts'
import { startKeys } from './ui/keys.tsx'
import { startMenus } from './ui/menu.tsx'
import { allowMeasuringText } from './app/trusted-types.ts'
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
