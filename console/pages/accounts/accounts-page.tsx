import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { may, me } from '../../live/session.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { actionColumn, type Column } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'

type Account = components['schemas']['Account']

/** The accounts of the platform. */
export function AccountsPage() {
  const list = usePages((cursor, signal) => api.get('/accounts', { query: { cursor }, signal }), [])
  const { dialog, open } = useDialog(list.reload)
  const actions = actionColumn<Account>(
    ({ name }) => name,
    (account) => {
      // Operators who suspend their own account cannot undo it.
      if (account.id === me.value?.account.id) return []
      const isDangerous = !account.suspended
      const run = () => open((props) => <SuspendAccount of={account} {...props} />)
      return [{ word: suspendWord(account), run, isDangerous }]
    },
  )
  return (
    <ListPage
      title="Accounts"
      list={list}
      canRetry={may('accounts.edit')}
      columns={[...COLUMNS, actions]}
      keyOf={({ id }) => id}
      actions={
        may('accounts.edit') && (
          <button
            type="button"
            class="primary"
            onClick={() => open((props) => <NewAccount {...props} />)}
          >
            New account
          </button>
        )
      }
    >
      {dialog}
    </ListPage>
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
  { title: 'Status', cell: ({ suspended }) => (suspended ? 'Suspended' : 'Active') },
  { title: 'Created', cell: ({ createdAt }) => <TimeCell at={createdAt} /> },
]

function suspendWord({ suspended }: Account): string {
  return suspended ? 'Resume' : 'Suspend'
}

function SuspendAccount({ of, ...props }: DialogProps & { of: Account }) {
  const { id, name, suspended } = of
  return (
    <FormDialog
      {...props}
      title={`${suspendWord(of)} account`}
      button={suspendWord(of)}
      danger={!suspended}
      submit={() => api.patch('/accounts/{id}', { path: { id }, body: { suspended: !suspended } })}
      done={suspended ? 'Account resumed.' : 'Account suspended.'}
    >
      <p>
        <Isolated class="strong">{name}</Isolated>
        {suspended
          ? ': its operators can sign in again, and its reports are accepted.'
          : ': its operators are signed out and its reports rejected within 5 seconds. Nothing is erased.'}
      </p>
    </FormDialog>
  )
}

function NewAccount(props: DialogProps) {
  return (
    <FormDialog
      {...props}
      title="New account"
      button="Create account"
      submit={({ name = '', 'admin.email': email = '', 'admin.password': password = '' }) =>
        api.post('/accounts', {
          body: { name: name.trim(), admin: { email: email.trim(), password } },
        })
      }
      done="Account created. Its first admin can sign in."
    >
      <Field name="name" label="Name" autoComplete="off" autoFocus />
      <Field name="admin.email" label="Admin e-mail" type="email" autoComplete="off" />
      <Field
        name="admin.password"
        label="Admin password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters."
      />
    </FormDialog>
  )
}
