import type { AppItem, AppRequest } from '../senders/app-request.ts'
import { NO_FIELDS } from '../senders/fields.ts'
import type { FileItem } from './format.ts'

/** Reads an entry as an app's request, so that it means the same in a file and in a request. */
export function readAsApp(
  read: (request: AppRequest) => readonly AppItem[],
  body: string,
  { place }: { place: number },
): FileItem[] {
  const contents = read({
    query: NO_FIELDS,
    parameters: NO_FIELDS,
    header: () => '',
    mediaType: 'application/json',
    literalBasic: false,
    body: Buffer.from(body),
  })
  return contents.map((one) => {
    switch (one.kind) {
      case 'point':
        return { kind: 'point', place, point: one }
      case 'seen':
        return { kind: 'other', place, what: 'entries without a position' }
      case 'malformed':
        return { kind: 'broken', place, message: one.message }
    }
  })
}
