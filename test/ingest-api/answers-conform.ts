import { ingestDocument } from '../../ingest-api/openapi.ts'
import { answersConformTo } from '../answers-conform.ts'

/** Throws if a response of the ingest API does not conform to its document. */
export const answerConforms = answersConformTo(ingestDocument())
