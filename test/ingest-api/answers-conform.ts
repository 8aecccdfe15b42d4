import { ingestDocument } from '../../ingest-api/openapi.ts'
import { answersConformTo } from '../answers-conform.ts'

/** Throws if an answer of the ingest API does not conform to its document. */
export const answerConforms = answersConformTo(ingestDocument())
