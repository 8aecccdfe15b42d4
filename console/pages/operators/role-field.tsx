import { isPlatform } from '../../api/session.ts'
import { Field } from '../../parts/form.tsx'
import type { Operator } from './operator.ts'

/** What somebody may do. */
export function RoleField({ of }: { of?: Operator }) {
  return (
    <>
      <Field
        name="role"
        label="Role"
        hint="Viewers see everything but the audit and the operators, and change nothing. Admins do everything."
      >
        {(attributes) => (
          <select {...attributes} defaultValue={of?.role ?? 'viewer'}>
            <option value="viewer" selected={of?.role !== 'admin'}>
              Viewer
            </option>
            <option value="admin" selected={of?.role === 'admin'}>
              Admin
            </option>
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
