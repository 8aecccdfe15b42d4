import { Navigation2 } from 'lucide'
import { may } from '../live/rights.ts'
import { AccountMenu } from './account-menu.tsx'
import { OpenPage } from './open-page.tsx'
import { PAGES } from './pages.ts'
import { Icon } from '../ui/icon.tsx'
import { place } from '../ui/router.ts'
import { addressOf } from '../core/address.ts'

/** The frame around every page of a signed-in operator. */
export function Frame() {
  return (
    <div class="frame">
      <a class="skip" href="#content" data-outside onClick={skipToPage}>
        Skip to the page
      </a>
      <header class="rail">
        <a class="brand" href={addressOf('/')} aria-label="GPS console">
          <Icon of={Navigation2} />
        </a>
        <Navigation />
        <AccountMenu />
      </header>
      <main id="content" tabIndex={-1}>
        <OpenPage />
      </main>
    </div>
  )
}

/** By script: the address of the link is below the base of the page, not below the page itself. */
function skipToPage(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

function Navigation() {
  const links = PAGES.filter(({ forPlatform }) => forPlatform !== true || may('accounts.edit'))
  return (
    <nav aria-label="Console">
      {links.map(({ path, link }) =>
        link === undefined ? null : (
          <a
            key={path}
            href={addressOf(path)}
            aria-label={link.name}
            title={link.name}
            aria-current={isHere(path) ? 'page' : undefined}
          >
            <Icon of={link.icon} />
            <span>{link.short ?? link.name}</span>
          </a>
        ),
      )}
    </nav>
  )
}

/** A device's page belongs to the map. */
function isHere(path: string): boolean {
  const { path: here } = place.value
  return here === path || (path === '/' && here.startsWith('/devices/'))
}
