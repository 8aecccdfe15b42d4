import type { ComponentType } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { MapPinOff } from 'lucide'
import { PAGES, SHARE_PAGE, type ConsolePage } from './pages.ts'
import { matchPath, addressOf } from '../core/address.ts'
import { Page } from '../ui/page.tsx'
import { pageAddress } from '../ui/router.ts'
import { Empty, Failed, Loading } from '../ui/states.tsx'
import { useLoad } from '../ui/use-load.ts'
import { toFailure } from '../core/failure.ts'

/** The page at the current address. */
export function OpenPage() {
  const { path } = pageAddress.value
  for (const page of PAGES) {
    const parameters = matchPath(page.path, path)
    if (parameters === 'unreadable') return <NoSuchPage />
    if (parameters !== undefined)
      return <LoadedPage key={path} page={page} parameters={parameters} />
  }
  return <NoSuchPage />
}

/** The page of a share: the same for everybody, signed in or not. */
export function OpenShare() {
  return <LoadedPage page={SHARE_PAGE} parameters={{}} />
}

const loaded = new Map<string, ComponentType<Readonly<Record<string, string>>>>()

function LoadedPage({
  page,
  parameters,
}: {
  page: ConsolePage
  parameters: Readonly<Record<string, string>>
}) {
  const [broken, forget] = useErrorBoundary() as [unknown, () => void]
  const known = loaded.get(page.path)
  const { data, failure } = useLoad(async () => {
    if (known === undefined) {
      const component: ComponentType<never> = await page.load()
      loaded.set(page.path, component as ComponentType<Readonly<Record<string, string>>>)
    }
    return page.path
  }, [page.path])
  if (broken !== undefined) {
    return <Failed failure={toFailure(broken)} onRetry={forget} />
  }
  const Component = known ?? (data === undefined ? undefined : loaded.get(data))
  if (Component !== undefined) return <Component {...parameters} />
  return failure === undefined ? <Loading /> : <Outdated />
}

/**
 * Shown if the page's files cannot be loaded: the console was updated, or the server is
 * unreachable. Browsers may cache the failure of a file, so the page is reloaded once the service
 * responds.
 */
function Outdated() {
  useEffect(() => {
    const closing = new AbortController()
    reloadOnceAnswered(closing.signal).catch(() => undefined)
    return () => closing.abort()
  }, [])
  return (
    <Page title="This page cannot be loaded">
      <Empty title="The service cannot be reached, or the console has been updated">
        <p>Reload the page in either case. Only unsaved input is lost.</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </Empty>
    </Page>
  )
}

const LOOK_EVERY_MS = 2_000
const LOOKS_AT_MOST_MS = 10_000
/** A permanently missing file must not reload the page again and again. */
const RELOADS_EVERY_MS = 60_000
const RELOADED_AT = 'gps-console.reloaded'

async function reloadOnceAnswered(ending: AbortSignal): Promise<void> {
  const reloadedAt = Number(sessionStorage.getItem(RELOADED_AT))
  const waitMs = reloadedAt + RELOADS_EVERY_MS - Date.now()
  await pause(Math.min(RELOADS_EVERY_MS, Math.max(LOOK_EVERY_MS, waitMs)))
  while (!ending.aborted) {
    const signal = AbortSignal.any([ending, AbortSignal.timeout(LOOKS_AT_MOST_MS)])
    const isAnswered = await fetch(addressOf('/'), {
      method: 'HEAD',
      cache: 'no-store',
      signal,
    }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ending.aborted) return
    if (isAnswered) {
      sessionStorage.setItem(RELOADED_AT, String(Date.now()))
      return location.reload()
    }
    await pause(LOOK_EVERY_MS)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <Empty title="There is nothing at this address" icon={MapPinOff}>
        <p>It may be mistyped, or its content has been removed.</p>
        <a class="button primary" href={addressOf('/')}>
          To the map
        </a>
      </Empty>
    </Page>
  )
}
