import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { ApiFailure } from '../../core/failure.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field, Form, type Values } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { KEY_STATUS_WORDS, type Key } from './key-words.ts'

/** Identifies the key of a secret that somebody has found in a sender. */
export function IdentifyKey({ onClose }: { onClose: () => void }) {
  const [found, setFound] = useState<Key | 'none'>()

  async function find({ key = '' }: Values) {
    setFound(undefined)
    try {
      setFound(await api.post('/keys/identify', { body: { key: key.trim() } }))
    } catch (failure) {
      if (!(failure instanceof ApiFailure) || failure.status !== 404) throw failure
      setFound('none')
    }
  }

  return (
    <Dialog title="Which key is this?" onClose={onClose}>
      <Form button="Find" submit={find} cancel={onClose}>
        <Field
          name="key"
          label="Secret"
          hint="Paste it as the sender has it. It is compared, not stored."
          type="password"
          autoComplete="off"
          autoFocus
        />
      </Form>
      <div role="status">{found !== undefined && <Found found={found} />}</div>
    </Dialog>
  )
}

function Found({ found }: { found: Key | 'none' }) {
  if (found === 'none') {
    return (
      <div class="notice warn row">
        <p>No key of this account has or had this secret.</p>
      </div>
    )
  }
  const { name, hint, status, lastUsedAt, createdAt } = found
  return (
    <Facts
      of={[
        [
          'Key',
          <>
            <Isolated class="strong">{name}</Isolated> <code>{hint}</code>
          </>,
        ],
        ['Status', KEY_STATUS_WORDS[status]],
        ['Created', <Time at={createdAt} />],
        ['Last used', lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />],
      ]}
    />
  )
}
