import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type LaunchOptions } from 'playwright-core'

/** Without windows it needs half of the processor's time. It keeps no left pages for Back, and installs none. */
const SHELL = '/usr/bin/chromium-headless-shell'
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const GIVEN = process.env['CHROMIUM'] ?? ''
/** Debian's chromium, or what CHROMIUM names. */
export const chromiumPath = [GIVEN, SHELL, ...BROWSERS].find(existsSync)

export function launchChromium({
  args = [],
  hasWindows = false,
  ...options
}: LaunchOptions & {
  /** As people's browsers do, it brings pages back as they were left, and says what it would install. */
  hasWindows?: boolean
} = {}): Promise<Browser> {
  const path = hasWindows ? [GIVEN, ...BROWSERS].find(existsSync) : chromiumPath
  if (path === undefined) throw new Error('needs chromium: apt-get install chromium')
  return chromium.launch({
    ...options,
    ...(hasWindows && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
    executablePath: fileURLToPath(new URL('chromium.sh', import.meta.url)),
    env: { ...process.env, CHROMIUM: path },
    args: ['--no-sandbox', '--disable-gpu', ...args],
  })
}
