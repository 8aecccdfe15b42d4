import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import type { ApiSubscription } from '../../core/notification-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { readSubscriptions } from '../../live/subscriptions.ts'
import { Facts } from '../../ui/facts.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { ActionMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { go } from '../../ui/router.ts'
import { FailedLine, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'
import { duration } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { formatClock } from '../../ui/shown.ts'
import { useAction } from '../../ui/use-action.ts'
import { useLoad } from '../../ui/use-load.ts'
import { Deliveries } from './deliveries.tsx'
import { SendAgain } from './send-again.tsx'
import { useNotificationActions } from './notification-actions.tsx'
import { Receiver, State, useNames, What } from './notifications-page.tsx'
import { TryReceiver } from './target-fields.tsx'

const READ_EVERY_MS = 5_000

/** The page of a notification: state, deliveries, actions. */
export function NotificationPage({ id }: { id: string }) {
  useEffect(startLive, [])
  watchWords()
  const one = useLoad((signal) => api.get('/subscriptions/{id}', { path: { id }, signal }), [id], {
    everyMs: READ_EVERY_MS,
  })
  const names = useNames()
  const { dialog, actionsOn } = useNotificationActions(() => {
    // The banner shows the same as the list.
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
            {mayEdit && data.state === 'failing' && <NextAttempt of={data} onDone={one.reload} />}
            {mayEdit && <Sent of={data} onChange={one.reload} />}
          </>
        )}
      </Loaded>
      {dialog}
    </Page>
  )
}

/** When a failing notification is retried, and a button to retry now. */
function NextAttempt({
  of: { id, nextAttemptAt },
  onDone,
}: {
  of: ApiSubscription
  onDone: () => void
}) {
  const { run, isRunning, failure } = useAction(async () => {
    await api.post('/subscriptions/{id}/enable', { path: { id } })
    onDone()
  })
  const at = Date.parse(nextAttemptAt ?? '')
  const isLater = at > now.value
  return (
    <div class="stack near">
      <div class="row">
        <p>
          {isLater
            ? `Tries again in ${duration(at - now.value)}, at ${formatClock(at)}.`
            : 'It is being tried again.'}
        </p>
        <button type="button" disabled={isRunning} onClick={run}>
          Try now
        </button>
      </div>
      {failure !== undefined && <FailedLine failure={failure} />}
    </div>
  )
}

/** Requests of the last 7 days, and items refused by the receiver. */
function Sent({
  of: { id, mark, nextAttemptAt, lastDeliveredAt, setAside },
  onChange,
}: {
  of: ApiSubscription
  onChange: () => void
}) {
  const [tests, setTests] = useState(0)
  return (
    <>
      <TryReceiver id={id} onSent={() => setTests(tests + 1)} />
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
              {
                title: 'Action',
                cell: (aside) => <SendAgain id={id} ids={[aside.id]} onSent={onChange} />,
              },
            ]}
          />
        </>
      )}
      <Deliveries
        id={id}
        version={`${mark} ${nextAttemptAt} ${lastDeliveredAt} ${tests}`}
        onChange={onChange}
      />
    </>
  )
}
