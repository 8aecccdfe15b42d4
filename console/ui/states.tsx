import type { ComponentChildren } from 'preact'
import { CircleAlert, CloudOff, Inbox, Lock, type IconNode } from 'lucide'
import { sentence, type ApiFailure } from '../core/failure.ts'
import { now } from './clock.ts'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import type { LoadState as Load } from './use-load.ts'

/** Shown instead of a page's content: empty, loading, or unavailable. */

/** A page or list without content; `children` suggest the next step. */
export function Empty({
  title,
  icon = Inbox,
  children,
}: {
  title: string
  icon?: IconNode
  children?: ComponentChildren
}) {
  return (
    <div class="state">
      <Icon of={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Grey lines instead of content; visible only if loading takes longer than 150 ms. */
export function Loading({ lines = 6, what = 'Loading' }: { lines?: number; what?: string }) {
  return (
    <div class="skeleton stack some" role="status" aria-label={what}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton-line" />
      ))}
    </div>
  )
}

/** The reason for a failure, its remedy, and the request's id for support. */
export function Failed({ failure, onRetry }: { failure: ApiFailure; onRetry?: () => void }) {
  const { title, icon, advice } = explain(failure)
  return (
    <div class="state" role="alert">
      <Icon of={icon} />
      <h2>{title}</h2>
      <p>{advice}</p>
      {onRetry !== undefined && <RetryButton failure={failure} onRetry={onRetry} />}
      <RequestId failure={failure} />
    </div>
  )
}

/** Shows a failure on one line, above content that remains. */
export function FailedLine({ failure, onRetry }: { failure: ApiFailure; onRetry?: () => void }) {
  return (
    <div class="notice bad row" role="alert">
      <Icon of={CircleAlert} />
      <p>{sentence(failure.message)}</p>
      {onRetry !== undefined && <RetryButton failure={failure} onRetry={onRetry} />}
      <RequestId failure={failure} />
    </div>
  )
}

function RetryButton({ failure, onRetry }: { failure: ApiFailure; onRetry: () => void }) {
  const waitMs = (failure.retryAt ?? 0) - Math.max(now.value, Date.now())
  const seconds = Math.ceil(waitMs / 1_000)
  return (
    <button type="button" disabled={seconds > 0} onClick={onRetry}>
      {seconds > 0 ? `Retry in ${seconds} s` : 'Retry'}
    </button>
  )
}

function RequestId({ failure: { requestId, status } }: { failure: ApiFailure }) {
  if (requestId === undefined || status < 500) return null
  return (
    <p class="note">
      Request <code>{requestId}</code> <CopyButton text={requestId} what="request id" />
    </p>
  )
}

function explain({ status, error, message }: ApiFailure): {
  title: string
  icon: IconNode
  advice: string
} {
  const advice = sentence(message)
  if (error === 'UNREACHABLE') return { title: 'Service unreachable', icon: CloudOff, advice }
  if (status === 0) return { title: 'The console has failed', icon: CircleAlert, advice }
  if (status === 403) {
    const more = 'Ask an admin of your account to do it, or to change your role.'
    const [, roles, own] = /^this call needs the role (.+); yours is (.+)$/.exec(message) ?? []
    const why = roles === undefined ? advice : `This is for the role ${roles}, and yours is ${own}.`
    return { title: 'You have no permission', icon: Lock, advice: `${why} ${more}` }
  }
  if (status === 404) return { title: 'Not found', icon: Inbox, advice }
  if (status === 429) return { title: 'Too many requests', icon: CircleAlert, advice }
  return { title: 'Something went wrong', icon: CircleAlert, advice }
}

/** Data that is loading, unavailable, or shown, with a line above it if reading it again failed. */
export function Loaded<T>({
  of: { data, failure, reload },
  lines,
  children,
}: {
  of: Load<T>
  /** The grey lines shown while loading. */
  lines?: number
  children: (data: T) => ComponentChildren
}) {
  if (data === undefined) {
    if (failure !== undefined) return <Failed failure={failure} onRetry={reload} />
    return <Loading {...(lines !== undefined && { lines })} />
  }
  return (
    <>
      {failure !== undefined && <FailedLine failure={failure} onRetry={reload} />}
      {children(data)}
    </>
  )
}
