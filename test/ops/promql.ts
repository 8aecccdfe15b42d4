/** The names of metrics in a PromQL expression, each with the labels queried. */
export function selectorsIn(expression: string): { metric: string; labels: string[] }[] {
  // Names of labels outside braces, which are not metrics.
  const bare = expression
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\boffset\s+\w+/g, ' ')
  const found: { metric: string; labels: string[] }[] = []
  for (const [, name = '', , matchers = ''] of bare.matchAll(
    /([a-zA-Z_:][\w:]*)\s*(\{((?:[^}"]|"[^"]*")*)\})?(?!\w|\s*\()/g,
  )) {
    if (OPERATORS.has(name)) continue
    const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"/g)]
    found.push({ metric: name, labels: labels.map(([, label = '']) => label) })
  }
  return found
}

/** The labels that an expression groups, joins or divides by. */
export function groupingLabelsIn(expression: string): string[] {
  return [
    ...expression.matchAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g),
  ].flatMap(([, labels = '']) =>
    labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean),
  )
}

const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'group_left', 'group_right', 'atan2'])
