import './events.css'
import { useEffect, useState } from 'preact/hooks'
import { BellRing } from 'lucide'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { isHandled } from '../../core/alarms.ts'
import {
  FACT_WORDS,
  factPath,
  isFactOf,
  mergeFacts,
  type ApiFact,
  type FactFilter,
} from '../../core/device-facts.ts'
import { labelOf } from '../../core/live-device.ts'
import { readingText } from '../../core/readings.ts'
import type { ApiRule } from '../../core/rule-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, onStreamEvent, startLive } from '../../live/live.ts'
import { announce } from '../../ui/announcements.tsx'
import type { Choices } from '../../ui/choice-fields.tsx'
import { FactIcon, FactSentence } from '../../ui/fact-line.tsx'
import { Filters, FilterPick, FilterRange, FilterSelect, NoMatch } from '../../ui/filters.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { findIn } from '../../ui/pick.tsx'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { readerUnits } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { HandlingLine } from './handling.tsx'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'
import { DeviceOrLabel } from './device-or-label.tsx'
import { ExportEvents } from './export-events.tsx'

const FILTERS = ['type', 'deviceId', 'label', 'geofenceId', 'ruleId', 'from', 'to'] as const

/** The events of all devices, the latest first, live. */
export function EventsPage() {
  useEffect(startLive, [])
  watchWords()
  const filter = pickParameters(pageAddress.value.query, FILTERS) as FactFilter
  const list = usePages(
    (cursor, signal) => api.get('/facts', { query: { ...queryOf(filter), cursor }, signal }),
    [filter],
  )
  const newest = useNewest(filter)
  const geofences = useGeofenceNames().data ?? []
  const rules = useRules().data ?? []
  // No event is about both a geofence and a rule.
  const definitions = [
    ...geofences.map(({ id, name }) => [`geofenceId ${id}`, name] as const),
    ...rules.map(({ id, name }) => [`ruleId ${id}`, `Rule ${name}`] as const),
  ]
  const zone = readerZone()
  return (
    <ListPage
      title="Events"
      list={{ ...list, items: list.items && mergeFacts(list.items, newest) }}
      actions={<ExportEvents filter={filter} nameOf={nameOf} />}
      filters={
        <Filters label="Filter events" isUsed={Object.keys(filter).length > 0}>
          <FilterSelect
            name="type"
            label="Event"
            options={Object.entries(FACT_WORDS)}
            value={filter.type}
          />
          <DeviceOrLabel of={filter} />
          <FilterPick
            names={['geofenceId', 'ruleId']}
            label="Geofence or rule"
            placeholder="All"
            words={definitionWords(filter, definitions)}
            find={findIn(definitions)}
          />
          <FilterRange range={filter} />
        </Filters>
      }
      empty={
        Object.keys(filter).length > 0 ? (
          <NoMatch title="No events match these filters" filters={FILTERS} />
        ) : (
          <Empty title="No events yet" icon={BellRing}>
            <p>
              When a device comes online or goes offline, enters or leaves a geofence, breaks a rule
              or sends an alarm, it appears here.
            </p>
          </Empty>
        )
      }
      show={(facts) => (
        <ol class="events box" role="list" aria-label="Events">
          {facts.map((fact) => (
            <li key={fact.id}>
              <a href={addressOf(factPath(fact, zone))}>
                <FactIcon type={fact.type} />
                <span class="note">
                  <Time at={fact.at} />
                </span>
                <span>
                  <FactSentence fact={fact} deviceName={nameOf(fact)} />
                  <Value fact={fact} rules={rules} />
                </span>
              </a>
              {isHandled(fact) && <HandlingLine of={fact} subject={nameOf(fact)} />}
            </li>
          ))}
        </ol>
      )}
    />
  )
}

function queryOf({ label, ...filter }: FactFilter) {
  return { ...filter, ...(label !== undefined && { label: [label] }) }
}

function definitionWords({ geofenceId, ruleId }: FactFilter, definitions: Choices): string {
  const chosen = [`geofenceId ${geofenceId}`, `ruleId ${ruleId}`]
  const [, words] = definitions.find(([value]) => chosen.includes(value)) ?? []
  return words ?? geofenceId ?? ruleId ?? ''
}

function nameOf({ deviceId }: ApiFact): string {
  return labelOf(fleet.devices.get(deviceId) ?? { deviceId, name: null })
}

/** The value that a rule was judged by. A deleted rule can no longer name its field. */
function Value({ fact: { rule, value }, rules }: { fact: ApiFact; rules: readonly ApiRule[] }) {
  const { when } = rules.find(({ id }) => id === rule?.id) ?? {}
  if (value === undefined || when === undefined || !('field' in when)) return null
  return <span class="quiet"> · {readingText(when.field, value, readerUnits())}</span>
}

/** The facts since the list was read. */
function useNewest(filter: FactFilter): readonly ApiFact[] {
  const [newest, setNewest] = useState<readonly ApiFact[]>([])
  const { data, reload } = useLoad(
    (signal) => api.get('/facts', { query: queryOf(filter), signal }),
    [filter],
  )
  useEffect(() => {
    setNewest([])
    return onStreamEvent((name, event) => {
      if (name === 'opened') reload()
      if (name !== 'fact') return
      const { labels } = fleet.devices.get((event as ApiFact).deviceId) ?? {}
      if (!isFactOf(event as ApiFact, filter, labels)) return
      setNewest((before) => [event as ApiFact, ...before])
      announce('A new event')
    })
  }, [JSON.stringify(filter)])
  return [...newest, ...(data?.items ?? [])]
}
