import { useState } from 'preact/hooks'
import { KeyRound } from 'lucide'
import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { ApiFailure, fieldFailure } from '../../core/failure.ts'
import { may } from '../../live/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Field, Form, type Values } from '../../ui/form.tsx'
import { CheckGroup } from '../../ui/choice-fields.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Filters, FilterSearch, FilterSelect, NoMatch } from '../../ui/filters.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { Empty } from '../../ui/states.tsx'
import { actionColumn } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { KeySecret, LimitFields, useKeyActions } from './key-actions.tsx'
import { KEY_COLUMNS } from './key-parts.tsx'
import {
  KEY_STATUS_WORDS,
  readLimits,
  SCOPE_NAMES,
  SCOPE_WORDS,
  type Key,
  type KeyWithSecret,
} from './key-words.ts'
import './keys.css'

export function KeysPage() {
  const filter = pickParameters(pageAddress.value.query, FILTERS) as KeyFilter
  const list = usePages(
    (cursor, signal) => api.get('/keys', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const isFiltered = filter.q !== undefined || filter.status !== undefined
  const { dialog, open, actionsOn } = useKeyActions(list.reload)
  return (
    <ListPage
      title="Keys"
      list={list}
      columns={[...KEY_COLUMNS, actionColumn<Key>(({ name }) => name, actionsOn)]}
      keyOf={({ id }) => id}
      actions={
        may('keys.edit') && (
          <>
            <button type="button" onClick={() => open((props) => <IdentifyKey {...props} />)}>
              Which key is this?
            </button>
            <button
              type="button"
              class="primary"
              onClick={() => open((props) => <NewKeyDialog {...props} />)}
            >
              New key
            </button>
          </>
        )
      }
      filters={
        <Filters label="Filter keys" isUsed={isFiltered}>
          <FilterSearch name="q" label="Search keys" placeholder="Name or hint" value={filter.q} />
          <FilterSelect
            name="status"
            label="Status"
            options={Object.entries(KEY_STATUS_WORDS)}
            value={filter.status}
          />
          <FilterSelect
            name="sort"
            label="Order"
            none="Newest first"
            options={ORDERS}
            value={filter.sort}
          />
        </Filters>
      }
      empty={
        isFiltered ? <NoMatch title="No keys match these filters" filters={FILTERS} /> : <NoKeys />
      }
    >
      {dialog}
    </ListPage>
  )
}

const FILTERS = ['q', 'status', 'sort'] as const
const ORDERS = [
  ['name', 'By name'],
  ['-lastUsedAt', 'Last used first'],
  ['lastUsedAt', 'Unused longest first'],
  ['createdAt', 'Oldest first'],
] as const

type KeyFilter = {
  readonly q?: string
  readonly status?: Key['status']
  readonly sort?: (typeof ORDERS)[number][0]
}

function NoKeys() {
  return (
    <Empty title="No keys yet" icon={KeyRound}>
      <p>
        Every device or program that reports needs one.{' '}
        {may('keys.edit') ? (
          <a href={addressOf('/connect')}>Connect a device</a>
        ) : (
          'Ask an admin of your account to create one.'
        )}
      </p>
    </Empty>
  )
}

/** Finds the key that a secret belongs to. */
function IdentifyKey({ onClose }: { onClose: () => void }) {
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
          hint="Paste it exactly as in the sender. It is compared, not stored."
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

/** Creates a key and shows its secret. */
function NewKeyDialog(props: DialogProps) {
  const [made, setMade] = useState<KeyWithSecret>()
  const [scopes, setScopes] = useState(['positions:write'])

  async function create(values: Values) {
    if (scopes.length === 0) throw fieldFailure('scopes', 'Choose at least one permission.')
    const wanted = SCOPE_NAMES.filter((scope) => scopes.includes(scope))
    const body = { ...readLimits(values, readerZone()), scopes: wanted }
    setMade(await api.post('/keys', { body }))
  }

  if (made !== undefined) return <KeySecret {...props} of={made} title="Key created" />
  return (
    <FormDialog {...props} title="New key" button="Create key" submit={create}>
      <Field
        name="name"
        label="Name"
        hint="What it is for: a vehicle, a gateway, a program."
        autoFocus
        autoComplete="off"
      />
      <CheckGroup
        name="scopes"
        label="Permissions"
        options={SCOPE_NAMES.map((scope) => [scope, SCOPE_WORDS[scope]])}
        chosen={scopes}
        set={setScopes}
      />
      <details>
        <summary>Limits</summary>
        <div class="stack">
          <LimitFields />
        </div>
      </details>
    </FormDialog>
  )
}
