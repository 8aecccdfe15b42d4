import { Link2Off } from 'lucide'
import { now } from '../../ui/clock.ts'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { useTitle } from '../../ui/page.tsx'
import { place } from '../../ui/router.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { shownMoment } from '../../ui/shown.ts'
import { Ago } from '../../ui/time.tsx'
import { SharedMap } from './shared-map.tsx'
import { NO_POSITION, silenceText } from './shared-words.ts'
import { statusOf } from './shared-view.ts'
import { useShared } from './use-shared.ts'
import './share.css'

/** The page for people with a link: `/share#token`. */
export function SharePage() {
  const { shared, failure, isLive } = useShared(place.value.hash.slice(1))
  useTitle(shared === undefined ? 'Shared positions' : isolate(shared.name))
  const isOver =
    failure?.status === 404 ||
    failure?.status === 401 ||
    (shared !== undefined && Date.parse(shared.expiresAt) <= now.value)
  if (isOver) return <Over />
  if (shared === undefined) {
    return <main class="alone">{failure ? <Failed failure={failure} /> : <Loading />}</main>
  }
  return (
    <main class="share">
      <header class="stack tight">
        <h1>
          <Isolated>{shared.name}</Isolated>
        </h1>
        <p class="quiet">
          <span role="status" aria-label="Connection">
            {isLive ? 'live' : 'disconnected, reconnecting'}
          </span>{' '}
          · until {shownMoment(Date.parse(shared.expiresAt))}
        </p>
        {failure !== undefined && <FailedLine failure={failure} />}
        <ul class="row" aria-label="Devices">
          {shared.items.map((item) => (
            <li key={item.ref}>
              <Isolated class={item.name === shared.name ? 'unseen' : 'strong'}>
                {item.name}
              </Isolated>{' '}
              Updated <Ago at={item.timestamp} inFull />
              {statusOf(item, now.value) !== 'online' && (
                <p class="quiet">{silenceText(Date.parse(item.timestamp))}</p>
              )}
            </li>
          ))}
        </ul>
        {shared.items.length === 0 && <p>{NO_POSITION}</p>}
      </header>
      <SharedMap items={shared.items} />
    </main>
  )
}

function Over() {
  return (
    <main class="alone">
      <Empty title="This link shows nothing" icon={Link2Off}>
        <p>It has expired, was revoked, or is incomplete. Ask the sender for a new one.</p>
      </Empty>
    </main>
  )
}
