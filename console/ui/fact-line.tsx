import { CircleCheck, CloudOff, LogIn, LogOut, Siren, TriangleAlert, type IconNode } from 'lucide'
import { sentenceParts, type ApiFact } from '../core/device-facts.ts'
import { Icon } from './icon.tsx'
import { Isolated } from './isolated.tsx'

const ICONS: Readonly<Record<ApiFact['type'], IconNode>> = {
  'alarm.reported': Siren,
  'geofence.entered': LogIn,
  'geofence.left': LogOut,
  'rule.raised': TriangleAlert,
  'rule.cleared': CircleCheck,
  'device.offline': CloudOff,
  'device.online': CircleCheck,
}

/** The icon of a fact's type, in the colour of its severity. */
export function FactIcon({ type }: { type: ApiFact['type'] }) {
  return (
    <span class={`fact-icon ${type.replace('.', ' ')}`}>
      <Icon of={ICONS[type]} small />
    </span>
  )
}

/** A fact as a sentence: "Van 7 left Yard after 2 h 10 min". */
export function FactSentence({ fact, deviceName }: { fact: ApiFact; deviceName: string }) {
  return (
    <span>
      {sentenceParts(fact, deviceName).map(({ text, names }, index) =>
        names === undefined ? (
          text
        ) : (
          <Isolated key={index} class={names === 'alarm' ? 'alarm' : 'strong'}>
            {text}
          </Isolated>
        ),
      )}
    </span>
  )
}
