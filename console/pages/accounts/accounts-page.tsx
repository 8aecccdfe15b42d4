import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { isPlatform, me } from '../../live/session.ts'
import type { components } from '../../api/schema.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated, UnseenName } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { PagedList } from '../../ui/paged-list.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePages } from '../../ui/use-pages.ts'

type Account = components['schemas']['Account']
type Open = { readonly kind: 'new' } | { readonly kind: 'suspend'; readonly account: Account }

/** The accounts of the platform. */
export function AccountsPage() {
  const [open, setOpen] = useState<Open>()
  const list = usePages(
    (cursor, signal) => api.get('/accounts', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  const dialog = { onDone: list.reload, onClose: () => setOpen(undefined) }
  return (
    <Page
      title="Accounts"
      wide
      actions={
        isPlatform.value && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
            New account
          </button>
        )
      }
    >
      <PagedList list={list} canRetry={isPlatform.value} empty={null}>
        {(accounts) => (
          <Table
            caption="Accounts"
            columns={[...COLUMNS, actions(setOpen)]}
            rows={accounts}
            keyOf={({ id }) => id}
          />
        )}
      </PagedList>
      {open?.kind === 'new' && <NewAccount {...dialog} />}
      {open?.kind === 'suspend' && <SuspendAccount of={open.account} {...dialog} />}
    </Page>
  )
}

const COLUMNS: readonly Column<Account>[] = [
  {
    title: 'Name',
    cell: ({ name, id }) => (
      <>
        <Isolated class="strong">{name}</Isolated>
        {id === me.value?.account.id && <span class="quiet"> yours</span>}
      </>
    ),
  },
  { title: 'State', cell: ({ suspended }) => (suspended ? 'Suspended' : 'Active') },
  { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

function actions(open: (dialog: Open) => void): Column<Account> {
  return {
    title: 'Change',
    cell: (account) => {
      // Operators who suspend their own account cannot undo it.
      if (account.id === me.value?.account.id) return null
      const word = account.suspended ? 'Resume' : 'Suspend'
      return (
        <button
          type="button"
          class={account.suspended ? 'small' : 'small danger'}
          onClick={() => open({ kind: 'suspend', account })}
        >
          {word}
          <UnseenName>{account.name}</UnseenName>
        </button>
      )
    },
  }
}

type Closing = { readonly onDone: () => void; readonly onClose: () => void }

function SuspendAccount({
  of: { id, name, suspended },
  onDone,
  onClose,
}: Closing & { of: Account }) {
  async function change() {
    await api.patch('/accounts/{id}', { path: { id }, body: { suspended: !suspended } })
    toast(suspended ? 'The account works again.' : 'The account is suspended.')
    onDone()
    onClose()
  }
  const word = suspended ? 'Resume' : 'Suspend'
  return (
    <Dialog title={`${word} the account`} onClose={onClose}>
      <p>
        <Isolated class="strong">{name}</Isolated>
        {suspended
          ? ': its operators can sign in again, and its reports are taken.'
          : ': its operators are signed out and its reports refused within 5 seconds. Nothing is erased.'}
      </p>
      <Form button={word} danger={!suspended} submit={change} cancel={onClose}>
        {null}
      </Form>
    </Dialog>
  )
}

function NewAccount({ onDone, onClose }: Closing) {
  async function make(values: Readonly<Record<string, string>>) {
    const { name = '', 'admin.email': email = '', 'admin.password': password = '' } = values
    const admin = { email: email.trim(), password }
    await api.post('/accounts', { body: { name: name.trim(), admin } })
    toast('The account is made. Its first admin can sign in.')
    onDone()
    onClose()
  }
  return (
    <Dialog title="New account" onClose={onClose}>
      <Form button="Make the account" submit={make} cancel={onClose}>
        <Field name="name" label="Name" autoComplete="off" autoFocus />
        <Field
          name="admin.email"
          label="E-mail of its first admin"
          type="email"
          autoComplete="off"
        />
        <Field
          name="admin.password"
          label="Password of its first admin"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters."
        />
      </Form>
    </Dialog>
  )
}
