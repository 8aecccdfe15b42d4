import { Isolated, IsolatedList } from '../../ui/isolated.tsx'
import type { Column } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { scopeWords, STATUS_WORDS, type Key } from './key-words.ts'

export const KEY_COLUMNS: readonly Column<Key>[] = [
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
  {
    title: 'May',
    cell: ({ scopes, deviceIds, rateLimit }) => (
      <>
        {scopeWords(scopes)}
        {deviceIds !== null && (
          <div class="quiet">
            for <IsolatedList most={3}>{deviceIds}</IsolatedList>
          </div>
        )}
        {rateLimit !== null && <div class="quiet">{rateLimit} positions a minute</div>}
      </>
    ),
  },
]
