import { CopyButton } from '../../ui/copy-button.tsx'
import { sentence } from '../../core/failure.ts'
import { Isolated } from '../../ui/isolated.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import type { Rejection } from './merge-rejections.ts'

/** `names`: the names of keys, by id. */
export function rejectionColumns(names: ReadonlyMap<string, string>): readonly Column<Rejection>[] {
  return [
    { title: 'When', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    {
      title: 'Why',
      isProse: true,
      cell: ({ error, message, count }) => (
        <>
          <code>{error}</code> <Isolated>{sentence(message)}</Isolated>
          {count > 1 && <div class="quiet">{count} reports, counted together</div>}
        </>
      ),
    },
    {
      title: 'Device',
      cell: ({ deviceId }) =>
        deviceId === undefined ? (
          <span class="quiet">not known</span>
        ) : (
          <Isolated>{deviceId}</Isolated>
        ),
    },
    { title: 'Key', cell: ({ keyId }) => <Isolated>{names.get(keyId) ?? keyId}</Isolated> },
    { title: 'What was sent', isProse: true, cell: ({ body }) => <Body text={body} /> },
  ]
}

function Body({ text }: { text: string | undefined }) {
  if (text === undefined) return <span class="quiet">not kept</span>
  return (
    <details>
      <summary>{`${new TextEncoder().encode(text).length} bytes`}</summary>
      <pre>
        <Isolated>{text}</Isolated>
      </pre>
      <CopyButton text={text} what="body" />
    </details>
  )
}
