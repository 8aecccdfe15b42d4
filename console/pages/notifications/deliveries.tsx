import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { countText } from '../../core/measures.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { usePages } from '../../ui/list-page.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { FailedLine, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { SendAgain } from './send-again.tsx'
import { ReceiverAnswer } from './target-fields.tsx'

type Delivery = components['schemas']['Delivery']

const FIRST = 50

/**
 * The requests of the last 7 days: the content of each, the receiver's response, and what was sent.
 */
export function Deliveries({
  id,
  version,
  onChange,
}: {
  id: string
  /** A new value: there are new deliveries. */
  version: string
  onChange: () => void
}) {
  const isFailed = pageAddress.value.query.get('outcome') === 'failed'
  const outcome = isFailed ? ('failed' as const) : undefined
  const { items, failure, retry, reload, more, isLoading } = usePages(
    (cursor, signal) =>
      api.get('/subscriptions/{id}/deliveries', {
        path: { id },
        query: { cursor, limit: FIRST, outcome },
        signal,
      }),
    [id, outcome],
  )
  const isFirstPage = (items?.length ?? 0) <= FIRST
  useEffect(() => {
    // Further pages remain while somebody reads them.
    if (isFirstPage) reload()
  }, [version])

  return (
    <>
      <div class="row between">
        <h2>Deliveries</h2>
        <button
          type="button"
          aria-pressed={isFailed}
          onClick={() => setQuery({ outcome: isFailed ? undefined : 'failed' })}
        >
          Failed
        </button>
      </div>
      {failure !== undefined && <FailedLine failure={failure} onRetry={retry} />}
      {items?.length === 0 && (
        <p class="quiet">
          {isFailed
            ? 'None has failed in the last 7 days.'
            : 'Nothing was sent in the last 7 days.'}
        </p>
      )}
      {items !== undefined && items.length > 0 && (
        <div class="deliveries">
          <Table
            caption="Deliveries"
            rows={items}
            keyOf={({ number }) => String(number)}
            columns={[
              { title: 'Time', cell: ({ at }) => <TimeCell at={at} /> },
              { title: 'What', isProse: true, cell: (one) => <What of={one} id={id} /> },
              { title: 'Answer', isProse: true, cell: (one) => <ReceiverAnswer of={one} /> },
              {
                title: 'Action',
                cell: ({ ids }) =>
                  !ids[0]?.startsWith('test_') && <SendAgain id={id} ids={ids} onSent={onChange} />,
              },
            ]}
          />
        </div>
      )}
      {more !== undefined && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={more}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}

/** The first item as a sentence, and below it, once opened, the whole request. */
function What({ of: { number, ids, text, attempt }, id }: { of: Delivery; id: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      {text === undefined ? (
        <span class="quiet">{countText(ids.length, 'item')}, no longer stored</span>
      ) : (
        <Isolated>{text}</Isolated>
      )}
      {text !== undefined && ids.length > 1 && ` and ${ids.length - 1} more`}
      {attempt > 1 && <span class="quiet"> · attempt {attempt}</span>}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>What was sent</summary>
        {isOpen && <Content id={id} number={number} />}
      </details>
    </>
  )
}

/** The content is not stored: the service renders it again from the ids. */
function Content({ id, number }: { id: string; number: number }) {
  const content = useLoad(
    (signal) =>
      api.get('/subscriptions/{id}/deliveries/{number}', {
        path: { id, number: String(number) },
        signal,
      }),
    [id, number],
  )
  return (
    <Loaded of={content} lines={3}>
      {({ items, ids, request }) => {
        const missing = ids.length - items.length
        return (
          <div class="stack near">
            <p class="note">
              Rendered again with current names and settings: only the ids are stored. Signature,
              tokens and custom headers are omitted.
              {missing > 0 && ` ${countText(missing, 'item')} no longer exist.`}
            </p>
            {items.length > 1 && (
              <ul>
                {items.map((item) => (
                  <li key={item.id}>
                    <Isolated>{item.text}</Isolated>
                  </li>
                ))}
              </ul>
            )}
            {request === null ? (
              <p class="quiet">Nothing of it is stored.</p>
            ) : (
              <Request of={request} />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function Request({
  of: { to, headers, body },
}: {
  of: NonNullable<components['schemas']['DeliveryContent']['request']>
}) {
  const text = pretty(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <pre class="note">
        <Isolated>{[`To ${to}`, ...lines].join('\n')}</Isolated>
      </pre>
      <pre>
        <Isolated>{text}</Isolated>
      </pre>
      <CopyButton text={text} what="body" />
    </>
  )
}

/** JSON on several lines; a sentence remains unchanged. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
