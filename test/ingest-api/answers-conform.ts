import { ingestDocument } from '../../ingest-api/openapi.ts'
import { answersConformTo } from '../answers-conform.ts'

/** Throws on an answer of the ingest API that is not as its document says. */
export const answerConforms = answersConformTo(ingestDocument())
