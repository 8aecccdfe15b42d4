import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { TriangleAlert } from 'lucide'
import { api } from '../../api/client.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { countText } from '../../core/measures.ts'
import { labelOf } from '../../core/live-device.ts'
import { ruleText, type ApiRule, type GeofenceNames } from '../../core/rule-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, startLive } from '../../live/live.ts'
import { may } from '../../live/session.ts'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { go } from '../../ui/router.ts'
import { readerUnits } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import { actionColumn, type Column } from '../../ui/table.tsx'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'
import { describeDevices } from '../geofences/whom.tsx'
import { RuleForm } from './rule-form.tsx'

/**
 * Conditions that cause events, each in a sentence, and the devices for which they currently hold.
 */
export function RulesPage() {
  useEffect(startLive, [])
  watchWords()
  const list = useRules()
  for (const rule of list.data ?? []) fleet.rule(rule)
  const { dialog, open } = useDialog(list.reload)
  const all = useGeofenceNames().data ?? []
  const geofences: GeofenceNames = new Map(all.map(({ id, name }) => [id, name]))
  const change = (rule?: ApiRule) => open((props) => <RuleForm {...props} of={rule} />)

  const actions = actionColumn<ApiRule>(
    ({ name }) => name,
    (rule) => [
      { word: 'Events', run: () => go(`/events?ruleId=${rule.id}`) },
      ...(may('subscriptions.edit')
        ? [{ word: 'Notify me …', run: () => go(`/notifications?rule=${rule.id}`) }]
        : []),
      ...(may('rules.edit')
        ? [
            { word: 'Change', run: () => change(rule) },
            {
              word: rule.enabled ? 'Disable' : 'Enable',
              run: () => open((props) => <SwitchRule {...props} of={rule} />),
            },
            {
              word: 'Delete',
              isDangerous: true,
              run: () => open((props) => <DeleteRule {...props} of={rule} />),
            },
          ]
        : []),
    ],
  )
  return (
    <ListPage
      title="Rules"
      list={{ ...list, items: list.data, retry: list.reload, more: undefined }}
      columns={[...ruleColumns(geofences), actions]}
      keyOf={({ id }) => id}
      actions={
        may('rules.edit') && (
          <button type="button" class="primary" onClick={() => change()}>
            New rule
          </button>
        )
      }
      empty={
        <Empty title="No rules yet" icon={TriangleAlert}>
          <p>
            A rule defines what causes an event: a speed, a temperature, a silence, a stay that is
            too long.
          </p>
        </Empty>
      }
    >
      {dialog}
    </ListPage>
  )
}

function ruleColumns(geofences: GeofenceNames): readonly Column<ApiRule>[] {
  return [
    {
      title: 'Name',
      isProse: true,
      cell: ({ name, enabled }) => (
        <>
          <Isolated class="strong">{name}</Isolated>
          {!enabled && <span class="quiet"> · disabled</span>}
        </>
      ),
    },
    {
      title: 'Rule',
      isProse: true,
      cell: (rule) => (
        <>
          <Isolated>{ruleText(rule, geofences, readerUnits())}</Isolated>
          <div class="note">
            <Isolated>{describeDevices(rule)}</Isolated>
            {rule.outOfRange && ' · No report can pass this limit: change it.'}
          </div>
        </>
      ),
    },
    { title: 'Raised now', isProse: true, cell: ({ id }) => <RaisedFor id={id} /> },
  ]
}

const MOST_NAMED = 3

/** The devices for which a rule is raised. */
function RaisedFor({ id }: { id: string }) {
  const devices = [...fleet.devices.values()].filter(({ raised }) => raised.includes(id))
  if (devices.length === 0) return <span class="quiet">for no device</span>
  const more = devices.length - MOST_NAMED
  return (
    <>
      {devices.slice(0, MOST_NAMED).map((device, index) => (
        <Fragment key={device.deviceId}>
          {index > 0 && ', '}
          <a href={addressOf(devicePath(device.deviceId))}>
            <Isolated>{labelOf(device)}</Isolated>
          </a>
        </Fragment>
      ))}
      {more > 0 && (
        <>
          {' and '}
          <a href={addressOf(`/?rule=${id}`)}>{countText(more, 'more device')}</a>
        </>
      )}
    </>
  )
}

function SwitchRule({ of: { id, name, enabled }, ...props }: DialogProps & { of: ApiRule }) {
  const words = enabled ? 'Disable rule' : 'Enable rule'
  return (
    <FormDialog
      {...props}
      title={words}
      button={words}
      submit={() => api.patch('/rules/{id}', { path: { id }, body: { enabled: !enabled } })}
      done={enabled ? 'Rule disabled.' : 'Rule enabled.'}
    >
      <p>
        <Isolated class="strong">{name}</Isolated>{' '}
        {enabled
          ? 'causes no more events. Where it is raised, it ends without one.'
          : 'is judged again from the next report on.'}
      </p>
    </FormDialog>
  )
}

function DeleteRule({ of: { id, name }, ...props }: DialogProps & { of: ApiRule }) {
  return (
    <FormDialog
      {...props}
      title="Delete rule"
      button="Delete rule"
      danger
      submit={() => api.delete('/rules/{id}', { path: { id } })}
      done="Rule deleted."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> causes no more events. Its past events stay.
      </p>
    </FormDialog>
  )
}
