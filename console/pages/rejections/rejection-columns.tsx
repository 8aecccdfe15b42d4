import { addressOf, devicePath } from '../../core/address.ts'
import { numberText } from '../../core/measures.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import type { Column } from '../../ui/table.tsx'
import { Moment, Time } from '../../ui/time.tsx'
import { KeyLink } from '../keys/key-link.tsx'
import { causeOf, remedyOf, type Alike } from './rejection-words.ts'

/** `names`: the names of keys, by id. */
export function rejectionColumns(names: ReadonlyMap<string, string>): readonly Column<Alike>[] {
  return [
    {
      title: 'Time',
      cell: ({ latest, count, firstAt }) => (
        <>
          <Time at={latest.receivedAt} />
          {count > 1 && (
            <div class="note">
              since <Moment at={firstAt} />
            </div>
          )}
        </>
      ),
    },
    {
      title: 'Reason',
      isProse: true,
      cell: ({ latest }) => (
        <>
          <Isolated>{causeOf(latest)}</Isolated> {remedyOf(latest)}{' '}
          <code class="note">{latest.error}</code>
        </>
      ),
    },
    { title: 'Reports', isNumber: true, cell: ({ count }) => numberText(count) },
    { title: 'Device', cell: ({ latest }) => <Device id={latest.deviceId} /> },
    {
      title: 'Key',
      cell: ({ latest: { keyId } }) => (
        <KeyLink of={{ id: keyId, name: names.get(keyId) ?? keyId }} />
      ),
    },
    { title: 'What was sent', isProse: true, cell: ({ latest }) => <Body text={latest.body} /> },
  ]
}

function Device({ id }: { id: string | undefined }) {
  if (id === undefined) return <span class="quiet">unknown</span>
  return (
    <a href={addressOf(devicePath(id))}>
      <Isolated>{id}</Isolated>
    </a>
  )
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
