import { ApiError } from '../../runtime/errors.ts'
import type { HttpMiddleware } from '../../runtime/http.ts'
import { REJECTION_ERRORS, type RejectionError } from '../../schemas/report-rejected.ts'
import type { IngestState } from '../keys/authenticate.ts'
import type { Rejections } from './rejections.ts'

/** Hands what is refused to a good key to the rejections. The answer does not wait for that. */
export function keepRejections({
  rejections,
}: {
  rejections: Pick<Rejections, 'offer'>
}): HttpMiddleware<IngestState> {
  return async function keepRejections(ctx, next) {
    try {
      await next()
    } catch (thrown) {
      const { grant, received }: Partial<IngestState> = ctx.state
      if (grant !== undefined && thrown instanceof ApiError && counts(thrown)) {
        const { error, message } = thrown
        rejections.offer({ key: grant.key, error, message, received: received ?? {} })
      }
      throw thrown
    }
  }
}

function counts(error: ApiError): error is ApiError & { readonly error: RejectionError } {
  return (REJECTION_ERRORS as readonly string[]).includes(error.error)
}
