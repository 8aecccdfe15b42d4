import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { ROLE_NAMES } from '../../core/session-rules.ts'
import { may } from '../../live/session.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { KeepSecret } from '../../ui/secret.tsx'
import { SelectField } from '../../ui/select-field.tsx'
import {
  roleName,
  ROLES_EXPLAINED,
  type ApiOperator,
  type OperatorWithPassword,
} from './operator-words.ts'

/** Creates an operator and shows the password that was made for them. */
export function NewOperator(props: DialogProps) {
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

export function ChangeOperator({ of, ...props }: OfOperator) {
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

export function RemoveOperator({ of: { id, email }, ...props }: OfOperator) {
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
        <Isolated class="strong">{email}</Isolated> is signed out at once and cannot sign in again.
        The audit keeps what they did.
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
