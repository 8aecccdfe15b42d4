/** API keys of the commands that send reports, from the environment; options count instead. */
export type SenderKeys = {
  readonly key?: string | undefined
  /** To check that what was sent can be seen; absent: `key` reads too. */
  readonly readKey?: string | undefined
}

export function senderKeys(
  env: Readonly<Record<string, string | undefined>> = process.env,
): SenderKeys {
  return { key: env['GPS_KEY'], readKey: env['GPS_READ_KEY'] }
}
