import { allPages, api } from '../../api/client.ts'
import type { ApiFact, FactFilter } from '../../core/device-facts.ts'
import { factsCsv } from '../../core/facts-csv.ts'
import { saveFile } from '../../ui/save-file.ts'
import { readerZone } from '../../ui/preferences.ts'
import { readerUnits } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useRules } from '../geofences/use-definitions.ts'

/**
 * Saves all events of a filter, with names, in the operator's units and zone. Programs use the
 * API's own file.
 */
export function ExportEvents({
  filter: { label, ...filter },
  nameOf,
  words = 'Export as CSV',
}: {
  filter: FactFilter
  nameOf: (fact: ApiFact) => string
  words?: string
}) {
  const rules = useRules().data ?? []
  const { run, isRunning, failure } = useAction(async () => {
    const query = { ...filter, ...(label !== undefined && { label: [label] }), limit: 1_000 }
    const facts = await allPages((cursor) => api.get('/facts', { query: { ...query, cursor } }))
    const csv = factsCsv(facts, { nameOf, rules, zone: readerZone(), units: readerUnits() })
    saveFile('events.csv', csv, 'text/csv')
  })
  return (
    <>
      <button type="button" disabled={isRunning} onClick={run}>
        {isRunning ? 'Exporting…' : words}
      </button>
      {failure !== undefined && <FailedLine failure={failure} />}
    </>
  )
}
