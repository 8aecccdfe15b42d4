/** Placeholder for a schema migration that only version 0.3.0 and earlier can run. */
export const BEFORE_0_3_0 = '-- before 0.3.0'

/** The number of schema versions before 0.3.0, whose tables the next step creates. */
export function fillBefore030(versions: number): readonly string[] {
  return Array<string>(versions).fill(BEFORE_0_3_0)
}
