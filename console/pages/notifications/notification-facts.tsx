import type { ComponentChildren } from 'preact'
import {
  hoursText,
  limitTexts,
  receiverText,
  stateText,
  whatText,
  type ApiSubscription,
  type DefinitionNames,
} from '../../core/notification-words.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { shownMoment } from '../../ui/shown.ts'
import { useGeofenceNames, useRules } from '../geofences/use-definitions.ts'
import { whomText } from '../geofences/whom.tsx'

/** The names of the account's rules and geofences. */
export function useNames(): DefinitionNames {
  const all = [...(useRules().data ?? []), ...(useGeofenceNames().data ?? [])]
  return new Map(all.map(({ id, name }) => [id, name]))
}

/** When it tells something, of which devices, at which hours, and how old it may be. */
export function What({ of: one, names }: { of: ApiSubscription; names: DefinitionNames }) {
  const { hours } = one
  const limits = [whomText(one), hours && hoursText(hours), ...limitTexts(one)]
  return (
    <>
      <Isolated>{whatText(one, names)}</Isolated>
      <div class="note">
        <Isolated>{limits.filter(Boolean).join(' · ')}</Isolated>
      </div>
    </>
  )
}

export function Receiver({ of: { target } }: { of: ApiSubscription }) {
  return <Isolated>{receiverText(target)}</Isolated>
}

export function State({ of: one }: { of: ApiSubscription }): ComponentChildren {
  const when = (iso: string) => shownMoment(Date.parse(iso)).replace('today ', '')
  const isWrong = one.state === 'failing' || one.state === 'disabled'
  return <Isolated {...(isWrong && { class: 'wrong' })}>{stateText(one, when)}</Isolated>
}
