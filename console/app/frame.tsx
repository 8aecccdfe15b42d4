import { Navigation2 } from 'lucide'
import { AccountMenu } from './account-menu.tsx'
import { Navigation, PhoneBar } from './navigation.tsx'
import { OpenPage } from './open-page.tsx'
import { Icon } from '../ui/icon.tsx'
import { isPhone } from '../ui/phone.ts'
import { addressOf } from '../core/address.ts'

/** The frame around every page of a signed-in operator. */
export function Frame() {
  return (
    <div class="frame">
      <a class="skip" href="#content" data-outside onClick={skipToPage}>
        Skip to content
      </a>
      {isPhone.value ? <PhoneBar /> : <Rail />}
      <main id="content" tabIndex={-1}>
        <OpenPage />
      </main>
    </div>
  )
}

function Rail() {
  return (
    <header class="rail">
      <a class="brand" href={addressOf('/')} aria-label="GPS console">
        <Icon of={Navigation2} />
        <span>GPS console</span>
      </a>
      <Navigation />
      <AccountMenu />
    </header>
  )
}

/** By script: the address of the link is below the base of the page, not below the page itself. */
function skipToPage(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}
