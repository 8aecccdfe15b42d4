import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Debian's chromium, or what CHROMIUM names. */
export const chromiumPath = [process.env['CHROMIUM'] ?? '', ...PLACES].find(existsSync)
