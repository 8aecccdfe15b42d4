/** The HTTP status of signing in, or of GET /session with this session. */
export async function statusOf(
  adminUrl: string,
  given: { readonly email: string; readonly password: string } | { readonly session: string },
): Promise<number> {
  const url = `${adminUrl}/api/v1/session`
  if ('session' in given) {
    return (await fetch(url, { headers: { Cookie: `gps_session=${given.session}` } })).status
  }
  const headers = { 'Content-Type': 'application/json', 'X-Requested-With': 'console' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(given) })).status
}
