import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type LaunchOptions } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Debian's chromium, or what CHROMIUM names. */
export const chromiumPath = [process.env['CHROMIUM'] ?? '', ...PLACES].find(existsSync)

export function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('needs chromium: apt-get install chromium')
  return chromium.launch({
    ...options,
    executablePath: fileURLToPath(new URL('chromium.sh', import.meta.url)),
    env: { ...process.env, CHROMIUM: chromiumPath },
    args: ['--no-sandbox', '--disable-gpu', ...args],
  })
}
