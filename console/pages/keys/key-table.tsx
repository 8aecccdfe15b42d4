import { isAdmin } from '../../live/session.ts'
import { isolate, Isolated, IsolatedList, UnseenName } from '../../ui/isolated.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { scopeWords, STATUS_WORDS, type Key } from './key-words.ts'

export type KeyDialog =
  | { readonly kind: 'new' | 'identify' }
  | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly key: Key }

export function KeyTable({
  keys,
  open,
}: {
  keys: readonly Key[]
  open: (dialog: KeyDialog) => void
}) {
  const columns = isAdmin.value ? [...COLUMNS, actions(open)] : COLUMNS
  return <Table caption="Keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
}

const COLUMNS: readonly Column<Key>[] = [
  { title: 'Name', cell: ({ name }) => <Isolated class="strong">{name}</Isolated> },
  {
    title: 'Status',
    cell: ({ status, previousValidUntil }) => (
      <>
        <span class={`badge ${status}`}>{STATUS_WORDS[status]}</span>
        {status === 'rotating' && previousValidUntil !== null && (
          <div class="quiet">
            old secret until <Time at={previousValidUntil} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Secret', cell: ({ hint }) => <code class="time">{hint}</code> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago at={lastUsedAt} /> : 'never'),
  },
  { title: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never') },
  { title: 'May', cell: (key) => <Rights of={key} /> },
]

function Rights({ of: { scopes, deviceIds, rateLimit } }: { of: Key }) {
  return (
    <>
      {scopeWords(scopes)}
      {deviceIds !== null && (
        <div class="quiet">
          for{' '}
          {deviceIds.length <= 3 ? (
            <IsolatedList>{deviceIds}</IsolatedList>
          ) : (
            <span title={deviceIds.map(isolate).join('\n')}>{deviceIds.length} devices</span>
          )}
        </div>
      )}
      {rateLimit !== null && <div class="quiet">{rateLimit} positions a minute</div>}
    </>
  )
}

function actions(open: (dialog: KeyDialog) => void): Column<Key> {
  return {
    title: 'Change',
    cell: (key) =>
      key.status === 'revoked' ? null : (
        <div class="row-actions">
          {(['edit', 'rotate', 'revoke'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              class={kind === 'revoke' ? 'small danger' : 'small'}
              onClick={() => open({ kind, key })}
            >
              {WORDS[kind]}
              <UnseenName>{key.name}</UnseenName>
            </button>
          ))}
        </div>
      ),
  }
}

const WORDS = { edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const
