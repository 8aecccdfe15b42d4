import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { isAdmin, me } from '../../live/session.ts'
import { Isolated, UnseenName } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { PagedList } from '../../ui/paged-list.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePages } from '../../ui/use-pages.ts'
import { ChangeOperator } from './change-operator.tsx'
import { NewOperator } from './new-operator.tsx'
import { roleName, type Operator } from './operator.ts'
import { RemoveOperator } from './remove-operator.tsx'

type Open =
  { readonly kind: 'new' } | { readonly kind: 'change' | 'remove'; readonly operator: Operator }

/** The operators of the account. */
export function OperatorsPage() {
  const [open, setOpen] = useState<Open>()
  const list = usePages(
    (cursor, signal) => api.get('/operators', { query: { ...(cursor && { cursor }) }, signal }),
    [],
  )
  const dialog = { onDone: list.reload, onClose: () => setOpen(undefined) }
  return (
    <Page
      title="Operators"
      wide
      actions={
        isAdmin.value && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
            New operator
          </button>
        )
      }
    >
      <PagedList list={list} canRetry={isAdmin.value} empty={null}>
        {(operators) => (
          <Table
            caption="Operators"
            columns={[...COLUMNS, ...(isAdmin.value ? [actions(setOpen)] : [])]}
            rows={operators}
            keyOf={({ id }) => id}
          />
        )}
      </PagedList>
      {open?.kind === 'new' && <NewOperator {...dialog} />}
      {open?.kind === 'change' && <ChangeOperator of={open.operator} {...dialog} />}
      {open?.kind === 'remove' && <RemoveOperator of={open.operator} {...dialog} />}
    </Page>
  )
}

const COLUMNS: readonly Column<Operator>[] = [
  {
    title: 'E-mail',
    cell: ({ email, id }) => (
      <>
        <Isolated class="strong">{email}</Isolated>
        {id === me.value?.operator.id && <span class="quiet"> you</span>}
      </>
    ),
  },
  {
    title: 'Role',
    cell: ({ role, platform }) => (
      <>
        {roleName(role)}
        {platform && <span class="quiet"> · of the platform</span>}
      </>
    ),
  },
  { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

function actions(open: (dialog: Open) => void): Column<Operator> {
  return {
    title: 'Change',
    cell: (operator) => (
      <div class="row-actions">
        <button type="button" class="small" onClick={() => open({ kind: 'change', operator })}>
          Edit
          <UnseenName>{operator.email}</UnseenName>
        </button>
        <button
          type="button"
          class="small danger"
          onClick={() => open({ kind: 'remove', operator })}
        >
          Remove
          <UnseenName>{operator.email}</UnseenName>
        </button>
      </div>
    ),
  }
}
