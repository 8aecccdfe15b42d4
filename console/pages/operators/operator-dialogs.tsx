import { api } from '../../api/client.ts'
import { ROLES } from '../../core/rights.ts'
import { may } from '../../live/rights.ts'
import { Field } from '../../ui/form.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { SelectField } from '../../ui/select-field.tsx'
import { roleName, type Operator } from './operator-words.ts'

export function NewOperator(props: DialogProps) {
  return (
    <FormDialog
      {...props}
      title="New operator"
      button="Create the operator"
      submit={({ email = '', password = '', role, platform }) => {
        const rights = {
          role: role as Operator['role'],
          ...(may('accounts.edit') && { platform: platform === 'yes' }),
        }
        return api.post('/operators', { body: { email: email.trim(), password, ...rights } })
      }}
      done="The operator can sign in now. Tell them the password."
    >
      <Field name="email" label="E-mail" type="email" autoComplete="off" autoFocus />
      <Field
        name="password"
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters. They can change it after signing in."
      />
      <RoleField />
    </FormDialog>
  )
}

type OfOperator = DialogProps & { readonly of: Operator }

export function ChangeOperator({ of, ...props }: OfOperator) {
  return (
    <FormDialog
      {...props}
      title="Edit the operator"
      button="Save"
      submit={async ({ password = '', role, platform }) => {
        const body = {
          ...(role !== of.role && { role: role as Operator['role'] }),
          ...(password !== '' && { password }),
          ...(may('accounts.edit') &&
            (platform === 'yes') !== of.platform && { platform: platform === 'yes' }),
        }
        if (Object.keys(body).length > 0) {
          await api.patch('/operators/{id}', { path: { id: of.id }, body })
        }
      }}
      done="The operator is changed."
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
        hint="Empty: it stays. A new one ends their sessions."
      />
    </FormDialog>
  )
}

export function RemoveOperator({ of: { id, email }, ...props }: OfOperator) {
  return (
    <FormDialog
      {...props}
      title="Remove the operator"
      button="Remove"
      danger
      submit={() => api.delete('/operators/{id}', { path: { id } })}
      done="The operator is removed and signed out everywhere."
    >
      <p>
        <Isolated class="strong">{email}</Isolated> is signed out at once and cannot sign in again.
        The audit keeps what they did.
      </p>
    </FormDialog>
  )
}

function RoleField({ of }: { of?: Operator }) {
  const role = of?.role ?? 'viewer'
  const roles = ROLES.includes(role) ? ROLES : [role, ...ROLES]
  return (
    <>
      <SelectField
        name="role"
        label="Role"
        hint="Viewers see everything but the audit and the operators, and change nothing. Admins do everything."
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
          May create and suspend accounts
        </label>
      )}
    </>
  )
}
