/** The first operator's credentials, and a key for the first report. */
export type WelcomeSecrets = {
  readonly email: string
  readonly password: string
  readonly apiKey: string
}

/**
 * The text that the first start prints. Only here are these secrets ever shown, so it goes to
 * standard output and never through the logger.
 */
export function welcome({
  secrets: { email, password, apiKey },
  consolePublicUrl,
  ...urls
}: {
  secrets: WelcomeSecrets
  ingestUrl: string
  adminUrl: string
  /** Without a slash at the end; absent: the console is at the admin API's own address. */
  consolePublicUrl?: string | undefined
}): string {
  const [ingestUrl, adminUrl] = [onThisMachine(urls.ingestUrl), onThisMachine(urls.adminUrl)]
  const report = JSON.stringify({
    deviceId: 'my-first-device',
    latitude: 52.5163,
    longitude: 13.3777,
  })
  const credentials = JSON.stringify({ email, password })
  return `
  Everything is running. This is shown once: keep it.

  Your first API key      ${apiKey}
  Sign in as              ${email}
  with the password       ${password}

  1. Send a first report:

curl -X POST ${ingestUrl}/api/v1/gps/submit -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${report}'

  2. See the device:

curl -H 'Authorization: Bearer ${apiKey}' ${adminUrl}/api/v1/devices/my-first-device

  3. See it on the map: open ${consolePublicUrl ?? adminUrl}/ in a browser and sign in. With curl:

curl -c cookies.txt ${adminUrl}/api/v1/session -H 'Content-Type: application/json' -d '${credentials}'

`
}

/** Replaces the address of all interfaces, which a container listens on, by one that can be called. */
function onThisMachine(url: string): string {
  return url.replace(/(?<=\/\/)(0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}
