import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { backOff } from '../../runtime/process/repeat.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { AvroRecord } from '../../schemas/events/avro-schemas.ts'
import { UndecodableEventError } from '../../schemas/events/event-fields.ts'
import type { AvroFormat } from './event-format.ts'

type AvscType = Parameters<AvroSchema['createResolver']>[0]

/** Confluent wire format: a zero, the schema's id as four bytes, the Avro body. */
const WIRE_HEADER_BYTES = 5
const NOT_FOUND = 404
const CONFLICT = 409
/** An incompatible schema is a conflict on every try: all tries take under a second. */
const MAX_TRIES = 6

type AvroSchema = Extract<
  Awaited<ReturnType<SchemaRegistry['getSchema']>>,
  { createResolver: unknown }
>

/**
 * Registers an event's schema under `subject` (compatibility BACKWARD) and returns the Avro
 * format. Fetched schemas are cached, so an outage of the registry affects only new schemas.
 * @throws {DependencyError} when the registry is unavailable, or rejects the schema.
 */
export async function openAvroFormat({
  url,
  clientId,
  subject,
  schema,
}: {
  url: string
  clientId: string
  subject: string
  schema: AvroRecord
}): Promise<AvroFormat> {
  const registry = new SchemaRegistry({ host: url, clientId, retry: { retries: 0 } })
  const { id } = await register(registry, { subject, schema })
  const ours = await avroSchema(registry, id)
  const resolvers = new Map<number, ReturnType<AvroSchema['createResolver']>>()

  return {
    encode(fields) {
      const body = ours.toBuffer(fields)
      const bytes = Buffer.allocUnsafe(WIRE_HEADER_BYTES + body.length)
      bytes.writeUInt8(0)
      bytes.writeInt32BE(id, 1)
      bytes.set(body, WIRE_HEADER_BYTES)
      return bytes
    },

    async decode(bytes) {
      if (bytes.length <= WIRE_HEADER_BYTES) {
        throw new UndecodableEventError('the value ends before its Avro body')
      }
      const writerId = bytes.readInt32BE(1)
      const resolver = resolvers.get(writerId) ?? (await resolverOf(writerId))
      resolvers.set(writerId, resolver)
      try {
        const fields: unknown = ours.fromBuffer(bytes.subarray(WIRE_HEADER_BYTES), resolver)
        return { ...(fields as object) }
      } catch (cause) {
        throw new UndecodableEventError(`the value is not Avro of schema ${writerId}`, { cause })
      }
    },
  }

  async function resolverOf(writerId: number) {
    let writer: AvroSchema
    try {
      writer = await avroSchema(registry, writerId)
    } catch (cause) {
      if (statusOf(cause) !== NOT_FOUND) throw registryAway(cause)
      throw new UndecodableEventError(`the registry knows no schema ${writerId}`, { cause })
    }
    try {
      // The registry client returns avsc's own type, but declares only part of it.
      return ours.createResolver(writer as unknown as AvscType)
    } catch (cause) {
      throw new UndecodableEventError(`schema ${writerId} is of another event`, { cause })
    }
  }
}

async function register(
  registry: SchemaRegistry,
  { subject, schema: record }: { subject: string; schema: AvroRecord },
): Promise<{ id: number }> {
  const schema = JSON.stringify(record)
  const pauses = backOff({ firstMs: 25, longestMs: 200 })
  for (let tries = 1; ; tries += 1) {
    try {
      return await registry.register({ type: SchemaType.AVRO, schema }, { subject })
    } catch (cause) {
      if (!isConflict(cause) || tries === MAX_TRIES) throw registryAway(cause)
      if (tries === MAX_TRIES - 1 && isUnset(cause)) await finishRegistration(registry, subject)
    }
    await pauses.pause()
  }
}

/**
 * A process that ends between registering a subject's first schema and setting its compatibility leaves
 * the subject without one. Apicurio's registry then reports NONE, which the client takes for a deliberate
 * choice; the two cannot be distinguished.
 */
async function finishRegistration(registry: SchemaRegistry, subject: string): Promise<void> {
  // One of the client's own requests, which it does not export.
  const { Subject } = registry['api'] as {
    Subject: { updateConfig(request: { subject: string; body: object }): Promise<unknown> }
  }
  try {
    await Subject.updateConfig({ subject, body: { compatibility: COMPATIBILITY.BACKWARD } })
  } catch (cause) {
    throw registryAway(cause)
  }
}

async function avroSchema(registry: SchemaRegistry, id: number): Promise<AvroSchema> {
  const schema = await registry.getSchema(id)
  if (!('createResolver' in schema)) throw new UndecodableEventError(`schema ${id} is not Avro`)
  return schema
}

function registryAway(cause: unknown): DependencyError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DependencyError(`the schema registry: ${reason}`, { retriable: true, cause })
}

/** Another process is creating the same subject, or has not set its compatibility yet. */
function isConflict(error: unknown): boolean {
  return statusOf(error) === CONFLICT || isMismatch(error)
}

/** The subject's compatibility is NONE. */
function isUnset(error: unknown): boolean {
  return isMismatch(error) && error.message.includes(`!= ${COMPATIBILITY.NONE})`)
}

function isMismatch(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ConfluentSchemaRegistryCompatibilityError'
}

function statusOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined
}
