import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type LaunchOptions } from 'playwright-core'

/** Without windows it needs half of the processor's time. */
const SHELL = '/usr/bin/chromium-headless-shell'
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Debian's chromium, or what CHROMIUM names. */
export const chromiumPath = [process.env['CHROMIUM'] ?? '', SHELL, ...BROWSERS].find(existsSync)

export function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('needs chromium: apt-get install chromium')
  return chromium.launch({
    ...options,
    executablePath: fileURLToPath(new URL('chromium.sh', import.meta.url)),
    env: { ...process.env, CHROMIUM: chromiumPath },
    args: ['--no-sandbox', '--disable-gpu', ...args],
  })
}
