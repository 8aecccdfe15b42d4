import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Ellipsis, Navigation2 } from 'lucide'
import { addressOf } from '../core/address.ts'
import { may } from '../live/session.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { isPhone } from '../ui/phone.ts'
import { pageAddress } from '../ui/router.ts'
import { AccountMenu } from './account-menu.tsx'
import { OpenPage } from './open-page.tsx'
import { GROUPS, PAGES, type PageLink } from './pages.ts'

/** The frame around every page of a signed-in operator. */
export function Frame() {
  return (
    <div class="frame">
      <a class="skip" href="#content" data-outside onClick={skipToPage}>
        Skip to content
      </a>
      {isPhone.value ? <PhoneBar /> : <Rail />}
      <LateBanners />
      <main id="content" tabIndex={-1}>
        <OpenPage />
      </main>
    </div>
  )
}

/** No user waits for this module, so it loads after the page. */
function LateBanners() {
  const [Shown, setShown] = useState<ComponentType>()
  useEffect(() => {
    import('./banners.tsx').then(
      ({ Banners }) => setShown(() => Banners),
      // A new build has been installed; the console reports this when it opens another page.
      () => undefined,
    )
  }, [])
  return Shown && <Shown />
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

/**
 * Done by script, because the page's base would turn the link's fragment into another page's
 * address.
 */
function skipToPage(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

type NavigationEntry = PageLink & { readonly path: string }

/** All pages of the console, in groups. */
function Navigation() {
  return (
    <nav aria-label="Console">
      <Groups of={listEntries()} />
    </nav>
  )
}

/** The bar on phones: three pages within reach of the thumb, the rest under "More". */
function PhoneBar() {
  const places = listEntries()
  const others = places.filter(({ inBar }) => inBar === undefined)
  const more = (
    <>
      <Icon of={Ellipsis} />
      <span>More</span>
    </>
  )
  return (
    <header class="bar">
      <nav aria-label="Console">
        {places.map((one) =>
          one.inBar === undefined ? null : (
            <Link key={one.path} to={one}>
              {one.inBar}
            </Link>
          ),
        )}
        <Menu
          button={more}
          class={others.some(({ path }) => isHere(path)) ? 'plain here' : 'plain'}
          panel="more-places stack near"
        >
          {() => (
            <>
              <Groups of={others} />
              <AccountMenu />
            </>
          )}
        </Menu>
      </nav>
    </header>
  )
}

function Groups({ of: places }: { of: readonly NavigationEntry[] }) {
  return GROUPS.map((group) => {
    const links = places.filter((one) => one.group === group)
    return links.length === 0 ? null : (
      <div key={group} class="places" role="group" aria-label={group}>
        <p class="note" aria-hidden="true">
          {group}
        </p>
        {links.map((one) => (
          <Link key={one.path} to={one}>
            {one.name}
          </Link>
        ))}
      </div>
    )
  })
}

function Link({
  to: { path, name, icon },
  children,
}: {
  to: NavigationEntry
  children: ComponentChildren
}) {
  return (
    <a
      href={addressOf(path)}
      aria-label={name}
      aria-current={isHere(path) ? 'page' : undefined}
      onClick={closeMenu}
    >
      <Icon of={icon} />
      <span>{children}</span>
    </a>
  )
}

function closeMenu({ currentTarget }: MouseEvent): void {
  if (currentTarget instanceof Element) {
    currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
  }
}

/** The pages that the operator's role may read. */
function listEntries(): readonly NavigationEntry[] {
  return PAGES.flatMap(({ path, link, needs }) =>
    link === undefined || (needs !== undefined && !may(needs)) ? [] : [{ ...link, path }],
  )
}

/** A device's page counts as part of the map, a key's page as part of the keys. */
function isHere(path: string): boolean {
  const { path: here } = pageAddress.value
  return here === path || here.startsWith(path === '/' ? '/devices/' : `${path}/`)
}
