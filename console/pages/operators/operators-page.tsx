import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { ROLE_NAMES } from '../../core/session-rules.ts'
import { may, me } from '../../live/session.ts'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Field } from '../../ui/form.tsx'
import { Filters, FilterSearch, FilterSelect, NoMatch } from '../../ui/filters.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { ListPage, usePages } from '../../ui/list-page.tsx'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { KeepSecret } from '../../ui/secret.tsx'
import { SelectField } from '../../ui/choice-fields.tsx'
import { actionColumn, type Column } from '../../ui/table.tsx'
import { TimeCell } from '../../ui/time.tsx'

/** The operators of the account. */
export function OperatorsPage() {
  const filter = pickParameters(pageAddress.value.query, FILTERS) as OperatorFilter
  const isFiltered = filter.q !== undefined || filter.role !== undefined
  const list = usePages(
    (cursor, signal) => api.get('/operators', { query: { ...filter, cursor }, signal }),
    [filter],
  )
  const { dialog, open } = useDialog(list.reload)
  // The last admin cannot be removed. While a part of the list is missing, the API decides.
  const isKept = (of: ApiOperator) =>
    list.more === undefined && !isFiltered && isLastAdmin(of, list.items ?? [])
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
      filters={
        may('operators.edit') && (
          <Filters label="Filter operators" isUsed={isFiltered}>
            <FilterSearch name="q" label="Search operators" placeholder="E-mail" value={filter.q} />
            <FilterSelect
              name="role"
              label="Role"
              options={ROLE_NAMES.map((role) => [role, roleName(role)] as const)}
              value={filter.role}
            />
            <FilterSelect
              name="sort"
              label="Order"
              none="Oldest first"
              options={ORDERS}
              value={filter.sort}
            />
          </Filters>
        )
      }
      empty={<NoMatch title="No operators match these filters" filters={FILTERS} />}
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

const FILTERS = ['q', 'role', 'sort'] as const
const ORDERS = [
  ['email', 'By e-mail'],
  ['-createdAt', 'Newest first'],
] as const

type OperatorFilter = {
  readonly q?: string
  readonly role?: ApiOperator['role']
  readonly sort?: (typeof ORDERS)[number][0]
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
  { title: 'Created', cell: ({ createdAt }) => <TimeCell at={createdAt} /> },
]

/** Creates an operator and shows the generated password. */
function NewOperator(props: DialogProps) {
  const [made, setMade] = useState<OperatorWithPassword>()
  if (made?.password !== undefined) {
    const notice = (
      <>
        Copy the password of <Isolated class="strong">{made.email}</Isolated> now and give it to
        them. It is shown only once; they choose their own when they first sign in.
      </>
    )
    return (
      <KeepSecret
        title="Operator created"
        notice={notice}
        text={made.password}
        what="Password"
        onClose={props.onClose}
      />
    )
  }
  return (
    <FormDialog
      {...props}
      title="New operator"
      button="Create operator"
      submit={async ({ email = '', role, platform }) => {
        const rights = {
          role: role as ApiOperator['role'],
          ...(may('accounts.edit') && { platform: platform === 'yes' }),
        }
        setMade(await api.post('/operators', { body: { email: email.trim(), ...rights } }))
      }}
    >
      <Field name="email" label="E-mail" type="email" autoComplete="off" autoFocus />
      <RoleField />
    </FormDialog>
  )
}

type OfOperator = DialogProps & { readonly of: ApiOperator }

function ChangeOperator({ of, ...props }: OfOperator) {
  return (
    <FormDialog
      {...props}
      title="Edit operator"
      button="Save"
      submit={async ({ password = '', role, platform }) => {
        const body = {
          ...(role !== of.role && { role: role as ApiOperator['role'] }),
          ...(password !== '' && { password }),
          ...(may('accounts.edit') &&
            (platform === 'yes') !== of.platform && { platform: platform === 'yes' }),
        }
        if (Object.keys(body).length > 0) {
          await api.patch('/operators/{id}', { path: { id: of.id }, body })
        }
      }}
      done="Operator saved."
    >
      <p>
        <Isolated class="strong">{of.email}</Isolated>
      </p>
      <RoleField of={of} />
      <Field
        name="password"
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="Leave empty to keep it. A new one ends their sessions."
      />
    </FormDialog>
  )
}

function RemoveOperator({ of: { id, email }, ...props }: OfOperator) {
  return (
    <FormDialog
      {...props}
      title="Remove operator"
      button="Remove"
      danger
      submit={() => api.delete('/operators/{id}', { path: { id } })}
      done="Operator removed and signed out everywhere."
    >
      <p>
        <Isolated class="strong">{email}</Isolated> is signed out immediately and cannot sign in
        again. The audit keeps what they did.
      </p>
    </FormDialog>
  )
}

function RoleField({ of }: { of?: ApiOperator }) {
  const role = of?.role ?? 'viewer'
  const roles = ROLE_NAMES.includes(role) ? ROLE_NAMES : [role, ...ROLE_NAMES]
  return (
    <>
      <SelectField
        name="role"
        label="Role"
        hint={ROLES_EXPLAINED}
        options={roles.map((one) => [one, roleName(one)])}
        value={role}
      />
      {may('accounts.edit') && (
        <label class="check">
          <input
            type="checkbox"
            name="platform"
            value="yes"
            defaultChecked={of?.platform ?? false}
          />
          Can create and suspend accounts
        </label>
      )}
    </>
  )
}

type ApiOperator = components['schemas']['Operator']
type OperatorWithPassword = components['schemas']['OperatorWithPassword']

/** The rights of each role, shown next to the choice of a role. */
const ROLES_EXPLAINED =
  'Viewers see devices and change nothing. Dispatchers also name, label and share them, move in their histories, and create geofences, rules and notifications. Admins can do everything.'

/** Whether this operator is the account's only admin. */
function isLastAdmin(of: ApiOperator, operators: readonly ApiOperator[]): boolean {
  return of.role === 'admin' && !operators.some(({ id, role }) => id !== of.id && role === 'admin')
}

/** `Viewer`; for a role unknown to this console, the API's name. */
function roleName(role: string): string {
  return ROLE_NAMES.includes(role) ? role.charAt(0).toUpperCase() + role.slice(1) : role
}
