/** The items that one call may send again, and that may wait for it: as many as a webhook's largest request has. */
export const MOST_RESENT_IN_CALL = 100
export const MOST_RESENT_WAITING = 500
