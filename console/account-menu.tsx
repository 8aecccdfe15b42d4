import { CircleUserRound } from 'lucide'
import { me, signOut } from './api/session.ts'
import { passwordIsOpen } from './pages/change-password.tsx'
import { ThemeChoice, ZoneChoice } from './parts/choices.tsx'
import { Icon } from './parts/icon.tsx'
import { Isolated } from './parts/isolated.tsx'
import { FailedLine } from './parts/states.tsx'
import { helpIsOpen } from './parts/shortcuts.tsx'
import { useAction } from './parts/use-action.ts'

/** The signed-in operator, the settings of this browser, and signing out. */
export function AccountMenu() {
  const { run: leave, isRunning, failure } = useAction(signOut)
  if (!me.value) return null
  const { operator, account } = me.value

  return (
    <>
      <button type="button" class="account" popovertarget="account-menu" aria-label="Your account">
        <Icon of={CircleUserRound} />
      </button>
      <div id="account-menu" class="menu" popover="auto">
        <p class="who">
          <Isolated class="strong">{operator.email}</Isolated>
          <span class="quiet">
            {operator.platform ? 'admin of the platform' : operator.role} of{' '}
            <Isolated>{account.name}</Isolated>
          </span>
        </p>
        <ThemeChoice />
        <ZoneChoice />
        <div class="menu-links">
          <button type="button" class="plain" onClick={() => (helpIsOpen.value = true)}>
            Keyboard
          </button>
          <button type="button" class="plain" onClick={() => (passwordIsOpen.value = true)}>
            Change your password
          </button>
          <a href="/docs" data-outside target="_blank" rel="noreferrer">
            API documentation
          </a>
        </div>
        {failure !== undefined && <FailedLine failure={failure} />}
        <button type="button" disabled={isRunning} onClick={leave}>
          Sign out
        </button>
      </div>
    </>
  )
}
