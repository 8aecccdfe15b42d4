import { expect } from '@jest/globals'
import type { Embedded } from '../programs.ts'

/** The variables that create the first operator. */
export const ADMIN = {
  ADMIN_EMAIL: 'ana@example.org',
  ADMIN_PASSWORD: 'correct horse battery staple',
}

type Body = { readonly data: Readonly<Record<string, unknown>> }

/** Calls of the admin API, as its first operator. */
export async function signIn({ adminUrl }: Embedded) {
  const call = async (method: string, path: string, body?: object, cookie = '') => {
    const response = await fetch(`${adminUrl}/api/v1${path}`, {
      method,
      headers: {
        'X-Requested-With': 'console',
        'Content-Type': 'application/json',
        Cookie: cookie,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return { response, data: (JSON.parse(text) as Body).data }
  }
  const credentials = { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD }
  const { response } = await call('POST', '/session', credentials)
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  return async (method: string, path: string, body?: object) =>
    (await call(method, path, body, cookie)).data
}

export async function report(
  { ingestUrl }: Embedded,
  key: string,
  deviceId: string,
): Promise<void> {
  const response = await fetch(`${ingestUrl}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ deviceId, latitude: 52.5, longitude: 13.4 }),
  })
  expect(response.status).toBe(200)
}
