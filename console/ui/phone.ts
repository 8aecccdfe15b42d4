import { signal } from '@preact/signals'

const narrow = matchMedia('(width < 45rem)')

/** Whether the window is as narrow as a phone: the pages then have one column. */
export const isPhone = signal(narrow.matches)

narrow.addEventListener('change', ({ matches }) => (isPhone.value = matches))
