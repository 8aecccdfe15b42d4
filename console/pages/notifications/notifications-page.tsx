import { useEffect } from 'preact/hooks'
import { Send } from 'lucide'
import { addressOf } from '../../core/address.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { readSubscriptions } from '../../live/subscriptions.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { actionColumn } from '../../ui/table.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { useNotificationActions } from './notification-actions.tsx'
import { Receiver, State, useNames, What } from './notification-facts.tsx'
import { NotificationForm } from './notification-form.tsx'

const READ_EVERY_MS = 10_000

/** Who is told what, and whether it arrives. */
export function NotificationsPage() {
  useEffect(startLive, [])
  watchWords()
  const list = useLoad(readSubscriptions, [], { everyMs: READ_EVERY_MS })
  const names = useNames()
  const { dialog, open, actionsOn } = useNotificationActions(list.reload)
  return (
    <ListPage
      title="Notifications"
      list={{ ...list, items: list.data, retry: list.reload, more: undefined }}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          isProse: true,
          cell: ({ id, name }) => (
            <a href={addressOf(`/notifications/${id}`)}>
              <Isolated class="strong">{name}</Isolated>
            </a>
          ),
        },
        { title: 'When', isProse: true, cell: (one) => <What of={one} names={names} /> },
        { title: 'Tells', isProse: true, cell: (one) => <Receiver of={one} /> },
        { title: 'State', isProse: true, cell: (one) => <State of={one} /> },
        actionColumn(({ name }) => name, actionsOn),
      ]}
      actions={
        may('subscriptions.edit') && (
          <button
            type="button"
            class="primary"
            onClick={() => open((props) => <NotificationForm {...props} />)}
          >
            New notification
          </button>
        )
      }
      empty={
        <Empty title="No notifications yet" icon={Send}>
          <p>
            A notification tells a phone, a chat, an operator or a program what happens to devices:
            an SOS, an arrival, a silence, or every position.
          </p>
        </Empty>
      }
    >
      {dialog}
    </ListPage>
  )
}
