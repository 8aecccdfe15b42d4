import { CircleUserRound } from 'lucide'
import { me, signOut } from '../live/session.ts'
import { passwordIsOpen } from '../pages/sign-in/change-password.tsx'
import { ClockChoice, LengthChoice, SpeedChoice, ThemeChoice, ZoneChoice } from '../ui/choices.tsx'
import { Icon } from '../ui/icon.tsx'
import { Isolated } from '../ui/isolated.tsx'
import { Menu } from '../ui/menu.tsx'
import { FailedLine } from '../ui/states.tsx'
import { helpIsOpen } from '../ui/keys.tsx'
import { useAction } from '../ui/use-action.ts'
import { addressOf } from '../core/address.ts'

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
              {operator.platform ? 'platform admin' : operator.role} of{' '}
              <Isolated>{account.name}</Isolated>
            </span>
          </p>
          <div class="menu-choices">
            <SpeedChoice />
            <LengthChoice />
            <ClockChoice />
            <ThemeChoice />
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
