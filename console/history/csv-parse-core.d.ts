declare module 'csv-parse-core' {
  /** Part of csv-parse; the build resolves its path. */
  export function transform(options: object): {
    parse(
      bytes: Uint8Array | undefined,
      isEnd: boolean,
      push: (record: unknown) => void,
      close: () => void,
    ): Error | undefined
  }
}
