import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type Router from '@koa/router'
import type { HttpContext, HttpState } from '../http/http.ts'
import type { OpenApiDocument } from './document.ts'

/** No other hosts, no inline scripts; Swagger UI's icons are `data:` images. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const installed = createRequire(import.meta.url)

type Content = { readonly body: Buffer; readonly etag: string }
type File = { readonly type: string; readonly content: () => Promise<Content> }

/**
 * Serves an API's document at `/openapi.json`, and Swagger UI at `/docs`. The document is made when it is
 * first asked for: at each start it would take more than 0.1 s.
 * @param basePath the path under which callers reach the API, with a slash at both ends.
 */
export function documentRoutes<S extends HttpState>(
  router: Router<S>,
  makeDocument: () => OpenApiDocument,
  { basePath = '/' }: { basePath?: string | undefined } = {},
): void {
  let made: OpenApiDocument | undefined
  const document = () => (made ??= makeDocument())
  const servers = [{ url: basePath.replace(/(?<=.)\/$/, '') }]
  const json = memoryFile('application/json', () =>
    JSON.stringify({ ...document(), servers }, null, 2),
  )
  const page = memoryFile('text/html', () => docsPage({ title: String(document().info['title']) }))
  const files: Readonly<Record<string, File>> = {
    'start.js': memoryFile('text/javascript', () => START_SCRIPT),
    'style.css': memoryFile('text/css', () => STYLE),
    'swagger-ui.css': swaggerUiFile('text/css', 'swagger-ui.css'),
    'swagger-ui-bundle.js': swaggerUiFile('text/javascript', 'swagger-ui-bundle.js'),
    'favicon.png': swaggerUiFile('image/png', 'favicon-32x32.png'),
  }

  router.get('/openapi.json', (ctx) => send(ctx, json))
  router.get('/docs', (ctx) => send(ctx, page))
  // The page's links are relative, so that it also works behind a proxy that strips a prefix.
  router.get('/docs/', (ctx) => ctx.redirect('../docs'))
  for (const [name, file] of Object.entries(files)) {
    router.get(`/docs/${name}`, (ctx) => send(ctx, file))
  }
}

async function send(ctx: HttpContext, { type, content }: File): Promise<void> {
  const { body, etag } = await content()
  ctx.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY })
  ctx.status = 200
  ctx.type = type
  ctx.etag = etag
  if (ctx.fresh) ctx.status = 304
  else ctx.body = body
}

function memoryFile(type: string, makeText: () => string): File {
  let content: Content | undefined
  return { type, content: async () => (content ??= addTag(Buffer.from(makeText()))) }
}

/**
 * A file of the installed package, read once: all responses share its bytes, including pending
 * ones.
 */
function swaggerUiFile(type: string, name: string): File {
  let content: Promise<Content> | undefined
  return {
    type,
    content() {
      content ??= readFile(installed.resolve(`swagger-ui-dist/${name}`)).then(addTag)
      content.catch(() => (content = undefined))
      return content
    },
  }
}

function addTag(body: Buffer): Content {
  return { body, etag: createHash('sha256').update(body).digest('base64url') }
}

/** The page that shows `openapi.json`; all its assets are in `docs/`. */
function docsPage({ title }: { title: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" type="image/png" href="docs/favicon.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/style.css" />
  </head>
  <body>
    <noscript>This page needs JavaScript; the same is in <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="document"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`
}

/** Runs in the browser. The validator is off: it would send the document to another host. */
const START_SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#document',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  showExtensions: false,
})
`

/** Hides the list of servers, which has one entry, and the empty list of links. */
const STYLE = `body { margin: 0; background: #fff; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info table td, .swagger-ui .info table td:first-of-type { padding: 5px 16px 5px 0; vertical-align: baseline; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #3b4151; font-weight: 400; }
.swagger-ui .scheme-container { box-shadow: none; border-bottom: 1px solid #ddd; padding: 12px 0; }
.swagger-ui .servers, .swagger-ui .servers-title, .swagger-ui .response-col_links { display: none; }
`

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
