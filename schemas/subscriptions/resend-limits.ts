/** The items that one call may send again. */
export const MOST_RESENT_IN_CALL = 100
/** The items that may wait to be sent again: as many as a webhook's largest request has. */
export const MOST_RESENT_WAITING = 500
