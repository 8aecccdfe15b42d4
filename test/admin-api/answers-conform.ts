import { adminRoutes, PREFIX, type AdminDependencies } from '../../admin-api/app.ts'
import { adminDocument } from '../../admin-api/openapi.ts'
import { answersConformTo } from '../answers-conform.ts'

/** Routes that are only listed never call their dependencies. */
export const unopened = { stopping: new AbortController().signal } as AdminDependencies

export const document = adminDocument(adminRoutes(unopened), { prefix: PREFIX })

/** Throws if a response of the admin API does not conform to the OpenAPI document. */
export const answerConforms = answersConformTo(document)
