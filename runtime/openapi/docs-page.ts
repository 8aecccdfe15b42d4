/** The page that shows `openapi.json`; all its assets are in `docs/`. */
export function docsPage({ title }: { title: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escaped(title)}</title>
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
export const START_SCRIPT = `SwaggerUIBundle({
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
export const STYLE = `body { margin: 0; background: #fff; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info table td, .swagger-ui .info table td:first-of-type { padding: 5px 16px 5px 0; vertical-align: baseline; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #3b4151; font-weight: 400; }
.swagger-ui .scheme-container { box-shadow: none; border-bottom: 1px solid #ddd; padding: 12px 0; }
.swagger-ui .servers, .swagger-ui .servers-title, .swagger-ui .response-col_links { display: none; }
`

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
