import type { components } from '../api/schema.ts'

type Schemas = components['schemas']

/** Whether a device of a list had reported; as of now, each has. */
export function hasReported(device: Schemas['ListedDevice']): device is Schemas['Device'] {
  return device.lastPosition !== undefined && device.lastSeenAt !== undefined
}
