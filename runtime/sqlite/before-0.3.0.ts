/** Stands for a step of the schema that only version 0.3.0 and earlier can take. */
export const BEFORE_0_3_0 = '-- before 0.3.0'

/** So many versions of a schema are before that of 0.3.0, whose tables the next step makes. */
export function before030(versions: number): readonly string[] {
  return Array<string>(versions).fill(BEFORE_0_3_0)
}
