type Policies = {
  createPolicy(name: string, rules: { createHTML(text: string): string }): unknown
}

/**
 * The page's policy lets no text become markup. OpenLayers measures a line's height with an `M`,
 * the only text that is allowed.
 */
export function allowMeasuringText(): void {
  const { trustedTypes } = window as { trustedTypes?: Policies }
  trustedTypes?.createPolicy('default', {
    createHTML(text) {
      if (text === 'M' || text === '') return text
      throw new TypeError('text must not become markup')
    },
  })
}
