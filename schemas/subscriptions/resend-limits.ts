/** Maximum number of items that one call may resend. */
export const MOST_RESENT_IN_CALL = 100
/** Maximum number of items waiting to be resent: as many as in a webhook's largest request. */
export const MOST_RESENT_WAITING = 500
