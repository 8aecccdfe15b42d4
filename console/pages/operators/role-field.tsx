import { isPlatform } from '../../live/session.ts'
import { Field } from '../../ui/form.tsx'
import { roleName, ROLES, type Operator } from './operator.ts'

/** A field for an operator's role. */
export function RoleField({ of }: { of?: Operator }) {
  const role = of?.role ?? 'viewer'
  return (
    <>
      <Field
        name="role"
        label="Role"
        hint="Viewers see everything but the audit and the operators, and change nothing. Admins do everything."
      >
        {(attributes) => (
          <select {...attributes} defaultValue={role}>
            {(ROLES.includes(role) ? ROLES : [role, ...ROLES]).map((one) => (
              <option key={one} value={one} selected={one === role}>
                {roleName(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isPlatform.value && (
        <label class="check">
          <input
            type="checkbox"
            name="platform"
            value="yes"
            defaultChecked={of?.platform ?? false}
          />
          May make and suspend accounts
        </label>
      )}
    </>
  )
}
