import './events.css'
import { useEffect, useState } from 'preact/hooks'
import { BellRing } from 'lucide'
import { api, urlOf } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import {
  FACT_WORDS,
  factPath,
  isFactOf,
  mergedFacts,
  type ApiFact,
  type FactFilter,
} from '../../core/device-facts.ts'
import { labelOf } from '../../core/live-device.ts'
import { readingText } from '../../core/readings.ts'
import type { ApiRule } from '../../core/rule-words.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, onStreamEvent, startLive } from '../../live/live.ts'
import { announce } from '../../ui/announcements.tsx'
import { FactIcon, FactSentence } from '../../ui/fact-line.tsx'
import { Filters, FilterRange, FilterSelect, FilterText, NoMatch } from '../../ui/filters.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { shownZone } from '../../ui/preferences.ts'
import { namedIn, pageAddress } from '../../ui/router.ts'
import { shownUnits } from '../../ui/shown.ts'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'

const FILTERS = ['type', 'deviceId', 'geofenceId', 'ruleId', 'from', 'to'] as const

/** The events of all devices, the latest first, live. */
export function EventsPage() {
  useEffect(startLive, [])
  watchWords()
  const filter = namedIn(pageAddress.value.query, FILTERS) as FactFilter
  const list = usePages(
    (cursor, signal) => api.get('/facts', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const newest = useNewest(filter)
  const geofences = useGeofenceNames().data ?? []
  const rules = useRules().data ?? []
  const zone = shownZone()
  return (
    <ListPage
      title="Events"
      list={{ ...list, items: list.items && mergedFacts(list.items, newest) }}
      actions={
        <a class="button" download href={urlOf('/facts', { query: { ...filter, format: 'csv' } })}>
          Export as CSV
        </a>
      }
      filters={
        <Filters label="Filter events" isUsed={Object.keys(filter).length > 0}>
          <FilterSelect
            name="type"
            label="Event"
            options={Object.entries(FACT_WORDS)}
            value={filter.type}
          />
          <FilterText name="deviceId" label="Device id" value={filter.deviceId} />
          <FilterSelect
            name="geofenceId"
            label="Geofence"
            options={geofences.map(({ id, name }) => [id, isolate(name)])}
            value={filter.geofenceId}
            excludes="ruleId"
          />
          <FilterSelect
            name="ruleId"
            label="Rule"
            options={rules.map(({ id, name }) => [id, isolate(name)])}
            value={filter.ruleId}
            excludes="geofenceId"
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
            </li>
          ))}
        </ol>
      )}
    />
  )
}

function nameOf({ deviceId }: ApiFact): string {
  return labelOf(fleet.devices.get(deviceId) ?? { deviceId, name: null })
}

/** The value that a rule was judged by. A deleted rule cannot name its field. */
function Value({ fact: { rule, value }, rules }: { fact: ApiFact; rules: readonly ApiRule[] }) {
  const { when } = rules.find(({ id }) => id === rule?.id) ?? {}
  if (value === undefined || when === undefined || !('field' in when)) return null
  return <span class="quiet"> · {readingText(when.field, value, shownUnits())}</span>
}

/** The facts since the list was read. */
function useNewest(filter: FactFilter): readonly ApiFact[] {
  const [newest, setNewest] = useState<readonly ApiFact[]>([])
  const { data, reload } = useLoad(
    (signal) => api.get('/facts', { query: filter, signal }),
    [filter],
  )
  useEffect(() => {
    setNewest([])
    return onStreamEvent((name, event) => {
      if (name === 'opened') reload()
      if (name !== 'fact' || !isFactOf(event as ApiFact, filter)) return
      setNewest((before) => [event as ApiFact, ...before])
      announce('A new event')
    })
  }, [JSON.stringify(filter)])
  return [...newest, ...(data?.items ?? [])]
}
