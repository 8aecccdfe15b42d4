/**
 * The values passed to another device's page. They are in the address's fragment, which browsers do
 * not send, so the key reaches no server and no log.
 */
export type Handoff = {
  readonly key: string
  readonly deviceId: string
  readonly name: string
  readonly sender: string
}

export function handoffUrl(origin: string, { key, deviceId, name, sender }: Handoff): string {
  const parts = new URLSearchParams({ key, device: deviceId, name, sender })
  return `${origin}/connect#${parts}`
}

/** Reads the fragment; undefined without a key. */
export function readHandoff(hash: string): Handoff | undefined {
  const parts = new URLSearchParams(hash.replace(/^#/, ''))
  const key = parts.get('key') ?? ''
  if (key === '') return undefined
  const part = (name: string) => parts.get(name) ?? ''
  return { key, deviceId: part('device'), name: part('name'), sender: part('sender') }
}
