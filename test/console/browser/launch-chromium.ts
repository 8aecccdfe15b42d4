import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type LaunchOptions } from 'playwright-core'

/** Without windows it needs half of the processor's time, but it keeps no left pages for Back. */
const SHELL = '/usr/bin/chromium-headless-shell'
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const GIVEN = process.env['CHROMIUM'] ?? ''
/** Debian's chromium, or what CHROMIUM names. */
export const chromiumPath = [GIVEN, SHELL, ...BROWSERS].find(existsSync)

export function launchChromium({
  args = [],
  keepsPages = false,
  ...options
}: LaunchOptions & {
  /** As people's browsers do, it brings pages back as they were left. */
  keepsPages?: boolean
} = {}): Promise<Browser> {
  const path = keepsPages ? [GIVEN, ...BROWSERS].find(existsSync) : chromiumPath
  if (path === undefined) throw new Error('needs chromium: apt-get install chromium')
  return chromium.launch({
    ...options,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
    executablePath: fileURLToPath(new URL('chromium.sh', import.meta.url)),
    env: { ...process.env, CHROMIUM: path },
    args: ['--no-sandbox', '--disable-gpu', ...args],
  })
}
