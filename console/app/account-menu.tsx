import type { Signal } from '@preact/signals'
import { CircleUserRound } from 'lucide'
import { addressOf } from '../core/address.ts'
import { me, signOut } from '../live/session.ts'
import { Icon } from '../ui/icon.tsx'
import { Isolated } from '../ui/isolated.tsx'
import { helpIsOpen } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import {
  clockHours,
  lengthUnit,
  localZone,
  sosSound,
  speedUnit,
  theme,
  zoneChoice,
} from '../ui/preferences.ts'
import { SelectField, type Choices } from '../ui/choice-fields.tsx'
import { FailedLine } from '../ui/states.tsx'
import { useAction } from '../ui/use-action.ts'
import { passwordIsOpen } from '../pages/sign-in/sign-in.tsx'

/** The signed-in operator, the settings of this browser, and signing out. */
export function AccountMenu() {
  const { run: leave, isRunning, failure } = useAction(signOut)
  if (!me.value) return null
  const { operator, account } = me.value

  const button = (
    <>
      <Icon of={CircleUserRound} />
      <span>Your account</span>
    </>
  )
  return (
    <Menu button={button} class="account plain" label="Your account">
      {() => (
        <>
          <p class="stack tight">
            <Isolated class="strong">{operator.email}</Isolated>
            <span class="quiet">
              {operator.platform ? 'platform admin' : operator.role} · account{' '}
              <Isolated>{account.name}</Isolated>
            </span>
          </p>
          <div class="menu-choices">
            <SpeedChoice />
            <LengthChoice />
            <ClockChoice />
            <ThemeChoice />
            <SoundChoice />
          </div>
          <ZoneChoice />
          <div class="menu-links">
            <button type="button" class="plain" onClick={() => (helpIsOpen.value = true)}>
              Keyboard
            </button>
            <button type="button" class="plain" onClick={() => (passwordIsOpen.value = true)}>
              Change your password
            </button>
            <a href={addressOf('/docs')} data-outside target="_blank" rel="noreferrer">
              API documentation
            </a>
          </div>
          {failure !== undefined && <FailedLine failure={failure} />}
          <button type="button" disabled={isRunning} onClick={leave}>
            Sign out
          </button>
        </>
      )}
    </Menu>
  )
}

/** The operator's display settings in this browser. */

const THEMES = { system: 'System', light: 'Light', dark: 'Dark' }
const SPEEDS = { 'km/h': 'km/h', mph: 'mph', knots: 'Knots' }
const LENGTHS = { metres: 'Metres, km', feet: 'Feet, miles' }
const SOUNDS = { off: 'Off', on: 'On' }
const CLOCKS = { '24': '24-hour', '12': '12-hour' }

const ThemeChoice = choice('theme', 'Theme', theme, THEMES)
const SpeedChoice = choice('speed', 'Speed unit', speedUnit, SPEEDS)
const LengthChoice = choice('length', 'Distance unit', lengthUnit, LENGTHS)
const SoundChoice = choice('sos-sound', 'Sound on SOS', sosSound, SOUNDS)
const ClockChoice = choice('clock', 'Clock', clockHours, CLOCKS)

function ZoneChoice() {
  const names = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')
  const options: Choices = [
    ['local', `This device (${localZone})`],
    ['UTC', 'UTC'],
    ...names.map((name) => [name, name.replaceAll('_', ' ')] as const),
  ]
  return <Chosen name="zone" label="Time zone" of={zoneChoice} options={options} />
}

function choice<T extends string>(
  name: string,
  label: string,
  of: Signal<T>,
  words: Readonly<Record<T, string>>,
) {
  const options = Object.entries<string>(words)
  return () => <Chosen name={name} label={label} of={of} options={options} />
}

function Chosen<T extends string>({
  of,
  ...field
}: {
  name: string
  label: string
  of: Signal<T>
  options: Choices
}) {
  return <SelectField {...field} value={of.value} onChange={(next) => (of.value = next as T)} />
}
