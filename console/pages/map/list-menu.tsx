import { Ellipsis } from 'lucide'
import { sortDevices } from '../../core/choose-devices.ts'
import { COLUMNS } from '../../core/device-columns.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { exportCsv } from './export-csv.ts'
import { chosenDevices, columns, order, toggleColumn } from './map-state.ts'
import { isMarking } from './marked.ts'

/** The columns of the list, and the actions on the whole list. */
export function ListMenu() {
  return (
    <Menu button={<Icon of={Ellipsis} />} label="List options">
      {(id) => (
        <>
          <div class="menu-links">
            <button
              type="button"
              class="plain"
              popovertarget={id}
              popovertargetaction="hide"
              onClick={() => (isMarking.value = true)}
            >
              Select devices
            </button>
            <button
              type="button"
              class="plain"
              popovertarget={id}
              popovertargetaction="hide"
              onClick={() => exportCsv(sortDevices([...chosenDevices()], order()))}
            >
              Export the list as CSV
            </button>
          </div>
          <fieldset class="stack tight">
            <legend>Columns</legend>
            {COLUMNS.filter(({ id: column }) => column !== 'name').map(({ id: column, title }) => (
              <label key={column} class="row">
                <input
                  type="checkbox"
                  checked={columns.value.includes(column)}
                  onChange={() => toggleColumn(column)}
                />
                {title}
              </label>
            ))}
          </fieldset>
        </>
      )}
    </Menu>
  )
}
