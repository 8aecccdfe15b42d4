import { useEffect } from 'preact/hooks'
import {
  MOST_RESENT_IN_CALL,
  MOST_RESENT_WAITING,
} from '../../../schemas/subscriptions/resend-limits.ts'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { sentence, toFailure } from '../../core/failure.ts'
import { countText } from '../../core/measures.ts'
import type { ApiSubscription } from '../../core/notification-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { readSubscriptions } from '../../live/subscriptions.ts'
import { Facts } from '../../ui/facts.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { usePages } from '../../ui/list-page.tsx'
import { ActionMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { go } from '../../ui/router.ts'
import { FailedLine, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { toast } from '../../ui/announcements.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useLoad } from '../../ui/use-load.ts'
import { useNotificationActions } from './notification-actions.tsx'
import { Receiver, State, useNames, What } from './notifications-page.tsx'
import { ReceiverAnswer, TryReceiver } from './target-fields.tsx'

const READ_EVERY_MS = 5_000

/** One notification: how it is doing, what it has sent, and the actions on it. */
export function NotificationPage({ id }: { id: string }) {
  useEffect(startLive, [])
  watchWords()
  const one = useLoad((signal) => api.get('/subscriptions/{id}', { path: { id }, signal }), [id], {
    everyMs: READ_EVERY_MS,
  })
  const names = useNames()
  const { dialog, actionsOn } = useNotificationActions(() => {
    // The banner shows what the list says.
    readSubscriptions()
      .then((all) => (all.some((other) => other.id === id) ? one.reload() : go('/notifications')))
      .catch(one.reload)
  })
  const mayEdit = may('subscriptions.edit')
  return (
    <Page
      title={one.data === undefined ? 'Notification' : isolate(one.data.name)}
      actions={
        <>
          <a class="button" href={addressOf('/notifications')}>
            All notifications
          </a>
          {one.data !== undefined && mayEdit && (
            <ActionMenu of={one.data.name} actions={actionsOn(one.data)} />
          )}
        </>
      }
    >
      <Loaded of={one}>
        {(data) => (
          <>
            <Facts
              of={[
                ['When', <What of={data} names={names} />],
                ['Tells', <Receiver of={data} />],
                ['State', <State of={data} />],
              ]}
            />
            {mayEdit && <Sent of={data} onChange={one.reload} />}
          </>
        )}
      </Loaded>
      {dialog}
    </Page>
  )
}

/** Requests of the last 7 days, and items that the receiver refused. */
function Sent({
  of: { id, mark, nextAttemptAt, lastDeliveredAt, setAside },
  onChange,
}: {
  of: ApiSubscription
  onChange: () => void
}) {
  const { items, failure, retry, reload, more, isLoading } = usePages(
    (cursor, signal) =>
      api.get('/subscriptions/{id}/deliveries', {
        path: { id },
        query: { cursor, limit: FIRST },
        signal,
      }),
    [id],
  )
  const isFirstPage = (items?.length ?? 0) <= FIRST
  useEffect(() => {
    // Further pages stay while somebody reads them.
    if (isFirstPage) reload()
  }, [mark, nextAttemptAt, lastDeliveredAt])

  const again = (ids: readonly string[]) => <SendAgain id={id} ids={ids} onSent={onChange} />

  return (
    <>
      <TryReceiver id={id} onSent={reload} />
      {setAside.length > 0 && (
        <>
          <h2>Refused three times</h2>
          <Table
            caption="Refused three times"
            rows={setAside}
            keyOf={(aside) => aside.id}
            columns={[
              { title: 'Happened', cell: ({ at }) => <TimeCell at={at} /> },
              { title: 'Answer', cell: ({ status }) => `${status}` },
              { title: 'Action', cell: (aside) => again([aside.id]) },
            ]}
          />
        </>
      )}
      <h2>Deliveries</h2>
      {failure !== undefined && <FailedLine failure={failure} onRetry={retry} />}
      {items?.length === 0 && <p class="quiet">Nothing was sent in the last 7 days.</p>}
      {items !== undefined && items.length > 0 && (
        <Table
          caption="Deliveries"
          rows={items}
          keyOf={({ at, ids }) => at + ids[0]}
          columns={[
            { title: 'Time', cell: ({ at }) => <TimeCell at={at} /> },
            {
              title: 'Items',
              cell: ({ ids, attempt }) => (
                <span title={ids.join('\n')}>
                  {isTest(ids) ? 'Test' : countText(ids.length, 'item')}
                  {attempt > 1 && <div class="note">attempt {attempt}</div>}
                </span>
              ),
            },
            { title: 'Answer', isProse: true, cell: (outcome) => <ReceiverAnswer of={outcome} /> },
            { title: 'Action', cell: ({ ids }) => !isTest(ids) && again(ids) },
          ]}
        />
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

const FIRST = 50

function isTest([id = '']: readonly string[]): boolean {
  return id.startsWith('test_')
}

/** Sends the items of a delivery again, however many calls that takes. */
function SendAgain({
  id,
  ids,
  onSent,
}: {
  id: string
  ids: readonly string[]
  onSent: () => void
}) {
  const { run, isRunning } = useAction(async () => {
    // The service sends them in this order too, so a part that is sent early comes first.
    const sorted = [...ids].sort()
    let sent = 0
    try {
      while (sent < sorted.length) {
        const part = sorted.slice(sent, sent + MOST_RESENT_IN_CALL)
        await api.post('/subscriptions/{id}/resend', { path: { id }, body: { ids: part } })
        sent += part.length
      }
      toast('It is sent again, before the rest.')
    } catch (thrown) {
      const why = sentence(toFailure(thrown).message)
      const some = `Only ${sent} of ${ids.length} items are sent again. `
      toast(sent === 0 ? why : some + why, { isFault: true })
    }
    onSent()
  })
  if (ids.length > MOST_RESENT_WAITING) {
    return (
      <span class="note">
        More than {MOST_RESENT_WAITING} items cannot be sent again alone. Rewind to this time
        instead.
      </span>
    )
  }
  return (
    <button type="button" class="small" disabled={isRunning} onClick={run}>
      Send again
    </button>
  )
}
