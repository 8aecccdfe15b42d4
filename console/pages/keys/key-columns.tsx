import { countText } from '../../core/measures.ts'
import { IsolatedList } from '../../ui/isolated.tsx'
import { shownMoment } from '../../ui/shown.ts'
import type { Column } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { KeyLink } from './key-link.tsx'
import { scopeWords, STATUS_WORDS, type Key } from './key-words.ts'

/** About a key besides its name. */
export const KEY_FACTS: readonly Column<Key>[] = [
  {
    title: 'Status',
    cell: ({ status, previousValidUntil }) => (
      <>
        <span class={`badge ${status}`}>{STATUS_WORDS[status]}</span>
        {status === 'rotating' && previousValidUntil !== null && (
          <div class="note">
            old one until{' '}
            <time dateTime={previousValidUntil} title={previousValidUntil}>
              {shownMoment(Date.parse(previousValidUntil))}
            </time>
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
    title: 'Permissions',
    cell: ({ scopes, deviceIds, rateLimit }) => (
      <>
        {scopeWords(scopes)}
        {deviceIds !== null && (
          <span class="quiet">
            {' '}
            for <IsolatedList most={3}>{deviceIds}</IsolatedList>
          </span>
        )}
        {rateLimit !== null && (
          <span class="quiet"> · {countText(rateLimit, 'position')} per minute</span>
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
