import { api } from '../../api/client.ts'
import { may, me } from '../../live/session.ts'
import { useDialog } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { actionColumn, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ChangeOperator, NewOperator, RemoveOperator } from './operator-dialogs.tsx'
import { isLastAdmin, roleName, type ApiOperator } from './operator-words.ts'

/** The operators of the account. */
export function OperatorsPage() {
  const list = usePages(
    (cursor, signal) => api.get('/operators', { query: { cursor }, signal }),
    [],
  )
  const { dialog, open } = useDialog(list.reload)
  // The last admin stays. As long as a part of the list is missing, the API decides.
  const isKept = (of: ApiOperator) => list.more === undefined && isLastAdmin(of, list.items ?? [])
  const actions = actionColumn<ApiOperator>(
    ({ email }) => email,
    (of) => [
      { word: 'Edit', run: () => open((props) => <ChangeOperator of={of} {...props} />) },
      ...(isKept(of)
        ? []
        : [
            {
              word: 'Remove',
              run: () => open((props) => <RemoveOperator of={of} {...props} />),
              isDangerous: true,
            },
          ]),
    ],
  )
  return (
    <ListPage
      title="Operators"
      list={list}
      canRetry={may('operators.edit')}
      columns={may('operators.edit') ? [...COLUMNS, actions] : COLUMNS}
      keyOf={({ id }) => id}
      actions={
        may('operators.edit') && (
          <button
            type="button"
            class="primary"
            onClick={() => open((props) => <NewOperator {...props} />)}
          >
            New operator
          </button>
        )
      }
    >
      {dialog}
    </ListPage>
  )
}

const COLUMNS: readonly Column<ApiOperator>[] = [
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
        {platform && <span class="quiet"> · platform admin</span>}
      </>
    ),
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
]
