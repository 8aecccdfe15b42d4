/**
 * Browser features that the console never uses, and that an injected script must not use either.
 */
const UNUSED = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer'],
  ...['microphone', 'midi', 'payment', 'serial', 'usb'],
]

/**
 * The headers of every file of the console. Scripts and styles come only from files of this origin;
 * where text becomes markup, the browser insists on a Trusted Types policy.
 * @param mapOrigins of a tile service that operators have configured.
 */
export function pageHeaders({
  images = [],
  data = [],
}: {
  readonly images?: readonly string[]
  readonly data?: readonly string[]
} = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    ["connect-src 'self'", ...data].join(' '),
    ["img-src 'self' data: blob:", ...images].join(' '),
    "base-uri 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
    'X-Content-Type-Options': 'nosniff',
    // Tile services want to know which site shows their map, but paths contain device ids.
    'Referrer-Policy': 'strict-origin-when-cross-origin',
  }
}
