import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { me } from '../../live/session.ts'
import { outcomeText, type ReceiverKind, type TestOutcome } from '../../core/notification-words.ts'
import { Field } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'

type TargetField = {
  readonly name: string
  readonly label: string
  readonly hint: string
  /** One entry per line. */
  readonly isList?: boolean
}

/** What to enter for each kind of receiver, and where to get it. */
const FIELDS: Readonly<Record<ReceiverKind, readonly TargetField[]>> = {
  webhook: [
    {
      name: 'url',
      label: 'URL',
      hint: 'Where your program accepts POST requests; for n8n or Home Assistant, the URL of its webhook.',
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
      hint: 'Send /newbot to @BotFather; it replies with the token.',
    },
    {
      name: 'chatId',
      label: 'Chat id',
      hint: 'Write to your bot once. @userinfobot sends you your id; for a channel, enter @ and its name.',
    },
    {
      name: 'threadId',
      label: 'Topic',
      hint: 'Only for a group with topics: the last number in the link of the topic.',
    },
  ],
  slack: [
    {
      name: 'url',
      label: 'URL',
      hint: 'The URL of an incoming webhook: in Slack, Mattermost and Rocket.Chat under apps or integrations; in Discord under the channel’s integrations (add /slack to the URL).',
    },
  ],
  email: [
    {
      name: 'to',
      label: 'Addresses',
      hint: 'Addresses of operators of this account, one per line.',
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

/** Sends a test, and shows the receiver's response. */
export function TryReceiver({ id, onSent }: { id: string; onSent?: () => void }) {
  const [outcome, setOutcome] = useState<TestOutcome>()
  const { run, isRunning, failure } = useAction(async () => {
    setOutcome(undefined)
    setOutcome(await api.post('/subscriptions/{id}/test', { path: { id } }))
    onSent?.()
  })
  return (
    <div class="stack near">
      <div class="row">
        <button type="button" disabled={isRunning} onClick={run}>
          Send a test
        </button>
        <div role="status">
          {isRunning ? 'Sending…' : outcome && <ReceiverAnswer of={outcome} />}
        </div>
      </div>
      {failure !== undefined && <FailedLine failure={failure} />}
    </div>
  )
}

/** Describes a receiver's response, with the start of its text. */
export function ReceiverAnswer({ of: outcome }: { of: TestOutcome }) {
  const { status = 0, answer } = outcome
  return (
    <>
      <span class={status >= 200 && status < 300 ? undefined : 'wrong'}>
        {outcomeText(outcome)}
      </span>
      {answer !== '' && (
        <pre class="note">
          <Isolated>{answer}</Isolated>
        </pre>
      )}
    </>
  )
}
