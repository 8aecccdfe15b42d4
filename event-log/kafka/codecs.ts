import { decompress as unzstd } from 'fzstd'
import kafkajs from 'kafkajs'
import { decompressFrame } from 'lz4-napi'
import { uncompress as unsnappy } from 'snappy'

// Node detects a CommonJS module's named exports by static analysis, which misses these.
const { CompressionCodecs, CompressionTypes } = kafkajs

/** The stream format of snappy-java: magic, two version numbers, then length-prefixed chunks. */
const SNAPPY_JAVA_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const SNAPPY_JAVA_HEADER_BYTES = 16

/**
 * Adds the codecs that other producers, or the topic's `compression.type`, may use: kafkajs has
 * gzip only, and a batch it cannot decompress crashes its consumer. We compress nothing.
 */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => ({ compress: refuse, decompress: readSnappy })
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: refuse,
    decompress: (bytes: Buffer) => decompressFrame(bytes),
  })
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: refuse,
    decompress: async (bytes: Buffer) => Buffer.from(unzstd(bytes)),
  })
}

async function readSnappy(bytes: Buffer): Promise<Buffer> {
  if (!bytes.subarray(0, SNAPPY_JAVA_MAGIC.length).equals(SNAPPY_JAVA_MAGIC)) {
    return toBuffer(await unsnappy(bytes))
  }
  const chunks: Buffer[] = []
  for (let at = SNAPPY_JAVA_HEADER_BYTES; at < bytes.length;) {
    const start = at + 4
    at = start + bytes.readUInt32BE(at)
    chunks.push(toBuffer(await unsnappy(bytes.subarray(start, at))))
  }
  return Buffer.concat(chunks)
}

function toBuffer(content: string | Buffer): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : content
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('this program only reads compressed batches'))
}
