import { countText } from '../../core/measures.ts'
import { IsolatedList } from '../../ui/isolated.tsx'
import type { Column } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { KeyLink } from './key-devices.tsx'
import { scopeWords, KEY_STATUS_WORDS, type Key } from './key-words.ts'

/** The columns of a key without its name. */
export const KEY_FACTS: readonly Column<Key>[] = [
  {
    title: 'Status',
    cell: ({ status, previousValidUntil }) => (
      <>
        <span class={`badge ${status}`}>{KEY_STATUS_WORDS[status]}</span>
        {status === 'rotating' && previousValidUntil !== null && (
          <div class="note">
            old one until <Time at={previousValidUntil} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Secret', cell: ({ hint }) => <code class="time">{hint}</code> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt, refusedRequests, lastRefusedAt }) => (
      <>
        {lastUsedAt ? <Ago at={lastUsedAt} /> : 'never'}
        {lastRefusedAt !== null && (
          <div class="note">
            {countText(refusedRequests, 'request')} refused, last <Ago at={lastRefusedAt} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never') },
  {
    title: 'Permissions',
    cell: ({ scopes, deviceIds, rateLimit }) => (
      <>
        <span class="text" title={scopeWords(scopes)}>
          {scopeWords(scopes)}
        </span>
        {(deviceIds !== null || rateLimit !== null) && (
          <div class="note one-line">
            {deviceIds !== null && <IsolatedList most={3}>{deviceIds}</IsolatedList>}
            {deviceIds !== null && rateLimit !== null && ' · '}
            {rateLimit !== null && `${countText(rateLimit, 'position')} per minute`}
          </div>
        )}
      </>
    ),
  },
]

export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    title: 'Name',
    cell: (key) => (
      <span class="strong">
        <KeyLink of={key} />
      </span>
    ),
  },
  ...KEY_FACTS,
]
