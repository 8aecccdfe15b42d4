import { useEffect } from 'preact/hooks'
import { Send } from 'lucide'
import type { ComponentChildren } from 'preact'
import { addressOf } from '../../core/address.ts'
import {
  hoursText,
  limitTexts,
  receiverText,
  stateText,
  describeSubject,
  type ApiSubscription,
  type DefinitionNames,
} from '../../core/notification-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { readSubscriptions } from '../../live/subscriptions.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { formatMoment } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import { actionColumn } from '../../ui/table.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'
import { describeDevices } from '../geofences/whom.tsx'
import { useNotificationActions } from './notification-actions.tsx'
import { NotificationForm } from './notification-form.tsx'

const READ_EVERY_MS = 10_000

/** Lists notifications: their receivers, events, and whether they are delivered. */
export function NotificationsPage() {
  useEffect(startLive, [])
  watchWords()
  const list = useLoad(readSubscriptions, [], { everyMs: READ_EVERY_MS })
  const names = useNames()
  const { dialog, open, actionsOn } = useNotificationActions(list.reload)
  // A geofence or a rule asks for a notification about it.
  useEffect(() => {
    const draft = parseDraft(pageAddress.peek().query)
    if (draft === undefined || !may('subscriptions.edit')) return
    setQuery({ geofence: undefined, rule: undefined })
    open((props) => <NotificationForm {...props} draft={draft} />)
  }, [])
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

function parseDraft(query: URLSearchParams): Partial<ApiSubscription> | undefined {
  const [geofence, rule] = [query.get('geofence'), query.get('rule')]
  if (geofence !== null) {
    return { types: ['geofence.entered', 'geofence.left'], geofenceIds: [geofence] }
  }
  return rule === null ? undefined : { types: ['rule.raised', 'rule.cleared'], ruleIds: [rule] }
}

/** The names of the account's rules and geofences. */
export function useNames(): DefinitionNames {
  const all = [...(useRules().data ?? []), ...(useGeofenceNames().data ?? [])]
  return new Map(all.map(({ id, name }) => [id, name]))
}

/** Describes a notification: events, devices, hours, and the maximum age of items. */
export function What({ of: one, names }: { of: ApiSubscription; names: DefinitionNames }) {
  const { hours } = one
  const limits = [describeDevices(one), hours && hoursText(hours), ...limitTexts(one)]
  return (
    <>
      <Isolated>{describeSubject(one, names)}</Isolated>
      <div class="note">
        <Isolated>{limits.filter(Boolean).join(' · ')}</Isolated>
      </div>
    </>
  )
}

export function Receiver({ of: { target } }: { of: ApiSubscription }) {
  return <Isolated>{receiverText(target)}</Isolated>
}

export function State({ of: one }: { of: ApiSubscription }): ComponentChildren {
  const when = (iso: string) => formatMoment(Date.parse(iso)).replace('today ', '')
  const isWrong = one.state === 'failing' || one.state === 'disabled'
  return <Isolated {...(isWrong && { class: 'wrong' })}>{stateText(one, when)}</Isolated>
}
