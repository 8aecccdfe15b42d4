/** A change as update operators: `null` clears a value, absent fields stay unchanged. */
export function namedValues(values: Readonly<Record<string, unknown>>): {
  $set: Record<string, unknown>
  $unset: Record<string, true>
} {
  const named = Object.entries(values).filter(([, value]) => value !== undefined)
  return {
    $set: Object.fromEntries(named.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(
      named.filter(([, value]) => value === null).map(([field]) => [field, true as const]),
    ),
  }
}
