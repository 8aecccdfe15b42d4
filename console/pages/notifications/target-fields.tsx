import { me } from '../../live/session.ts'
import type { ReceiverKind } from '../../core/notification-words.ts'
import { Field } from '../../ui/form.tsx'

type TargetField = {
  readonly name: string
  readonly label: string
  readonly hint: string
  /** One entry a line. */
  readonly isList?: boolean
}

/** What to enter for each kind of receiver, and where to get it. */
const FIELDS: Readonly<Record<ReceiverKind, readonly TargetField[]>> = {
  webhook: [
    {
      name: 'url',
      label: 'URL',
      hint: 'Where your program takes POST requests: of n8n or Home Assistant, the URL of its webhook.',
    },
  ],
  ntfy: [
    {
      name: 'url',
      label: 'URL of the topic',
      hint: 'In the app ntfy, subscribe to a topic with a name that nobody guesses: https://ntfy.sh/NAME.',
    },
    {
      name: 'token',
      label: 'Access token',
      hint: 'Only for a protected topic: under Account in the web app of ntfy.',
    },
  ],
  telegram: [
    {
      name: 'token',
      label: 'Token of the bot',
      hint: 'Write /newbot to @BotFather: it answers with the token.',
    },
    {
      name: 'chatId',
      label: 'Chat id',
      hint: 'Write to your bot once. @userinfobot tells you your id; of a channel, enter @ and its name.',
    },
  ],
  slack: [
    {
      name: 'url',
      label: 'URL',
      hint: 'Of an incoming webhook: Slack, Mattermost and Rocket.Chat have them under their apps or integrations. Discord: under the channel’s integrations; add /slack to the URL.',
    },
  ],
  email: [
    {
      name: 'to',
      label: 'Addresses',
      hint: 'Of operators of this account, one a line.',
      isList: true,
    },
  ],
}

export function TargetFields({ kind }: { kind: ReceiverKind }) {
  return FIELDS[kind].map(({ name, label, hint, isList = false }) => (
    <Field
      key={kind + name}
      name={`target.${name}`}
      label={label}
      hint={hint}
      autoComplete="off"
      spellcheck={false}
      {...(isList && {
        children: (attributes) => (
          <textarea {...attributes} rows={2} defaultValue={me.value?.operator.email ?? ''} />
        ),
      })}
    />
  ))
}
