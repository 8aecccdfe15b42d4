import { attributeName, inShownOrder, type DeviceAttributes } from '../../core/attributes.ts'
import type { Fact } from '../../ui/facts.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { shownAttribute } from '../../ui/shown.ts'

/** Attributes by what the page calls them; a text stays isolated. */
export function attributeFacts(attributes: DeviceAttributes = {}): Fact[] {
  return inShownOrder(Object.keys(attributes)).map((name) => {
    const value = attributes[name] ?? ''
    return [attributeName(name), <Isolated>{shownAttribute(name, value)}</Isolated>]
  })
}
