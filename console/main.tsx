import './style/layers.css'
import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/frame.css'
import './style/page.css'
import './style/states.css'
import './style/dialog.css'
import './style/table.css'
import './style/secret.css'
import { render } from 'preact'
import { startSession } from './api/session.ts'
import { App, startFailure } from './app.tsx'
import { startClock } from './parts/clock.ts'
import { applyTheme } from './parts/preferences.ts'
import { startRouter } from './parts/router.ts'
import { startShortcuts } from './parts/shortcuts.tsx'
import { allowMeasuringText } from './trusted-types.ts'
import { toFailure } from './api/failure.ts'

allowMeasuringText()
applyTheme()
startRouter()
startShortcuts()
startClock()
const root = document.getElementById('console')
if (root !== null) render(<App />, root)
startSession().catch((thrown: unknown) => (startFailure.value = toFailure(thrown)))
