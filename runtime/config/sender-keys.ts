/** API keys of the commands that send reports, from the environment; options count instead. */
export type SenderKeys = {
  readonly key?: string | undefined
  /** Reads sent reports back; absent: `key` reads too. */
  readonly readKey?: string | undefined
}

export function senderKeys(
  env: Readonly<Record<string, string | undefined>> = process.env,
): SenderKeys {
  return { key: env['GPS_KEY'], readKey: env['GPS_READ_KEY'] }
}
